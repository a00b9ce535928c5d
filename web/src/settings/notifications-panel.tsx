import type { Flags } from "@berth/contract";
import { type FlagSwitch, FlagSwitches } from "./flag-switches.tsx";
import classes from "./settings-page.module.css";

const switches: readonly FlagSwitch[] = [
  {
    flag: "emailNotifications",
    label: "Email notifications",
    description: "Launch ready, expiry warnings 24 h, 1 h and 10 min before the end, and the end",
  },
  { flag: "billingAlerts", label: "Billing alerts", description: "Refunds, from the start to their arrival" },
];

export function NotificationsPanel({ userId, flags }: { readonly userId: string; readonly flags: Flags }) {
  return (
    <div className={classes.form}>
      <h2>Notifications</h2>
      <p className={classes.lead}>The bell tells all of it. These say what is also mailed to you.</p>
      <FlagSwitches userId={userId} flags={flags} switches={switches} />
    </div>
  );
}
