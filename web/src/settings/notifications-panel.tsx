import { type Flags, settingsFlags } from "@berth/contract";
import { Switch } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { keys } from "../api/queries.ts";
import { toast } from "../ui/toast.ts";
import { settingsUpdated } from "./outcome-texts.ts";
import classes from "./settings-page.module.css";

/** The flags that something obeys; a switch that did nothing would be a lie (G49). */
const switches: readonly { readonly flag: keyof Flags; readonly label: string; readonly description: string }[] = [
  {
    flag: "emailNotifications",
    label: "Email notifications",
    description: "Launch ready, expiry warnings 24 h, 1 h and 10 min before the end, and the end",
  },
  { flag: "billingAlerts", label: "Billing alerts", description: "Refunds, from the start to their arrival" },
  { flag: "securityAlerts", label: "Security alerts", description: "A sign-in that was ended for safety" },
];

export function NotificationsPanel({ userId, flags }: { readonly userId: string; readonly flags: Flags }) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<Partial<Flags>>({});
  const change = async (flag: keyof Flags, value: boolean) => {
    setAsked((before) => ({ ...before, [flag]: value }));
    try {
      await call(settingsFlags, { params: { user_id: userId }, body: { [flag]: value } });
      toast.success(settingsUpdated);
      await client.invalidateQueries({ queryKey: keys.settings(userId) });
    } catch {
      toast.error("Failed to update user settings");
    } finally {
      // What is stored is shown again: the new value, or the old one after a failure.
      setAsked(({ [flag]: _, ...others }) => others);
    }
  };
  return (
    <div className={classes.form}>
      <h2>Notifications</h2>
      <p className={classes.lead}>The bell tells all of it. These say what is also mailed to you.</p>
      {switches.map(({ flag, label, description }) => (
        <Switch
          key={flag}
          className={classes.switch ?? ""}
          labelPosition="left"
          label={label}
          description={description}
          checked={asked[flag] ?? flags[flag]}
          disabled={asked[flag] !== undefined}
          onChange={(event) => void change(flag, event.currentTarget.checked)}
        />
      ))}
    </div>
  );
}
