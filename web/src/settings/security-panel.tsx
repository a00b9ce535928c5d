import type { Flags } from "@berth/contract";
import { Link } from "react-router";
import { Facts } from "../ui/display/facts.tsx";
import { type FlagSwitch, FlagSwitches } from "./flag-switches.tsx";
import { SecondFactor } from "./second-factor.tsx";
import classes from "./settings-page.module.css";

const switches: readonly FlagSwitch[] = [
  {
    flag: "securityAlerts",
    label: "Security alerts",
    description: "Mails when your password is changed, and when a sign-in is ended for safety",
  },
];

/** Alerts, the second factor (G398), and what ends other sign-ins. */
export function SecurityPanel({ userId, flags }: { readonly userId: string; readonly flags: Flags }) {
  return (
    <div className={classes.form}>
      <h2>Security</h2>
      <p className={classes.lead}>The bell tells all of it. This says whether it is also mailed to you.</p>
      <FlagSwitches userId={userId} flags={flags} switches={switches} />
      <SecondFactor userId={userId} />
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
        ]}
      />
    </div>
  );
}
