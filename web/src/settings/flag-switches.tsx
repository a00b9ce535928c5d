import { type Flags, settingsFlags } from "@berth/contract";
import { Switch } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "../api/call.ts";
import { keys } from "../api/queries.ts";
import { toast } from "../ui/toast/toast.ts";
import classes from "./settings-page.module.css";
import { settingsUpdated } from "./settings-texts.ts";

export interface FlagSwitch {
  readonly flag: Exclude<keyof Flags, "twoFactorAuth">;
  readonly label: string;
  readonly description: string;
}

interface Props {
  readonly userId: string;
  readonly flags: Flags;
  /** Only flags that have an effect (G49). */
  readonly switches: readonly FlagSwitch[];
}

/** Each switch is saved at once and shows the saved value. */
export function FlagSwitches({ userId, flags, switches }: Props) {
  return switches.map((each) => <StoredSwitch key={each.flag} userId={userId} stored={flags[each.flag]} {...each} />);
}

function StoredSwitch({ userId, stored, flag, label, description }: FlagSwitch & { userId: string; stored: boolean }) {
  const client = useQueryClient();
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (value: boolean) => call(settingsFlags, { params: { user_id: userId }, body: { [flag]: value } }),
    // Shows the new value until the refetch.
    onSuccess: () => {
      toast.success(settingsUpdated);
      return client.invalidateQueries({ queryKey: keys.settings(userId) });
    },
    onError: () => toast.error("Failed to update user settings"),
  });
  return (
    <Switch
      className={classes.switch ?? ""}
      labelPosition="left"
      label={label}
      description={description}
      checked={isPending ? variables : stored}
      disabled={isPending}
      onChange={(event) => mutate(event.currentTarget.checked)}
    />
  );
}
