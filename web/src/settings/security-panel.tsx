import type { Flags } from "@berth/contract";
import { signInProviders } from "../api/page-settings.ts";
import { LinkedAccounts } from "./access/linked-accounts.tsx";
import { Passkeys } from "./access/passkeys.tsx";
import { SecondFactor } from "./access/second-factor.tsx";
import { SignInList } from "./access/sign-in-list.tsx";
import { type FlagSwitch, FlagSwitches } from "./flag-switches.tsx";
import classes from "./settings-page.module.css";

const switches: readonly FlagSwitch[] = [
  {
    flag: "securityAlerts",
    label: "Security alerts",
    description:
      "Mails when your password is changed, at a sign-in from a new browser, and when a sign-in is ended for safety",
  },
];

/** Alerts, the second factor (G398), passkeys (G424), and the open sign-ins (G403). */
export function SecurityPanel({ userId, flags }: { readonly userId: string; readonly flags: Flags }) {
  return (
    <div className={classes.form}>
      <h2>Security</h2>
      <p className={classes.lead}>The bell tells all of it. This says whether it is also mailed to you.</p>
      <FlagSwitches userId={userId} flags={flags} switches={switches} />
      <SecondFactor userId={userId} />
      <Passkeys userId={userId} />
      {signInProviders.length > 0 && <LinkedAccounts userId={userId} />}
      <SignInList userId={userId} />
    </div>
  );
}
