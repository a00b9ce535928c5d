import type { Flags } from "@berth/contract";
import { Link } from "react-router";
import { Facts } from "../ui/display/facts.tsx";
import { type FlagSwitch, FlagSwitches } from "./flag-switches.tsx";
import classes from "./settings-page.module.css";

const switches: readonly FlagSwitch[] = [
  {
    flag: "securityAlerts",
    label: "Security alerts",
    description: "Mails when your password is changed, and when a sign-in is ended for safety",
  },
];

/** Lists the second factor as not offered, instead of a switch without effect (G49). */
export function SecurityPanel({ userId, flags }: { readonly userId: string; readonly flags: Flags }) {
  return (
    <div className={classes.form}>
      <h2>Security</h2>
      <p className={classes.lead}>The bell tells all of it. This says whether it is also mailed to you.</p>
      <FlagSwitches userId={userId} flags={flags} switches={switches} />
      <Facts
        facts={[
          {
            label: "Sign-ins elsewhere",
            value: (
              <>
                End when you{" "}
                <Link className="link" to="?tab=password">
                  change the password
                </Link>
              </>
            ),
          },
          { label: "Two-factor sign-in", value: "Not offered yet" },
        ]}
      />
    </div>
  );
}
