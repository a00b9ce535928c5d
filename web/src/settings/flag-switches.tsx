import { type Flags, settingsFlags } from "@berth/contract";
import { Switch } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/call.ts";
import { keys } from "../api/queries.ts";
import { toast } from "../ui/toast/toast.ts";
import { settingsUpdated } from "./outcome-texts.ts";
import classes from "./settings-page.module.css";

export interface FlagSwitch {
  readonly flag: Exclude<keyof Flags, "twoFactorAuth">;
  readonly label: string;
  readonly description: string;
}

interface Props {
  readonly userId: string;
  readonly flags: Flags;
  /** Only flags that something obeys: a switch that did nothing would be a lie (G49). */
  readonly switches: readonly FlagSwitch[];
}

/** Each is stored when it is switched, and shows what is stored. */
export function FlagSwitches({ userId, flags, switches }: Props) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<Partial<Flags>>({});
  const change = async (flag: FlagSwitch["flag"], value: boolean) => {
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
  return switches.map(({ flag, label, description }) => (
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
  ));
}
