import { maxNameLength, maxPhoneLength, settingsProfile } from "@berth/contract";
import { Button, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "../api/call.ts";
import { keys } from "../api/queries.ts";
import { toast } from "../ui/toast/toast.ts";
import classes from "./settings-page.module.css";
import { profileFailure, settingsUpdated } from "./settings-texts.ts";

interface Props {
  readonly userId: string;
  readonly profile: { readonly name: string; readonly email: string; readonly phone: string };
}

export function ProfileForm({ userId, profile }: Props) {
  const client = useQueryClient();
  const form = useForm({ initialValues: { name: profile.name, phone: profile.phone } });
  const { mutate, isPending } = useMutation({
    mutationFn: ({ name, phone }: typeof form.values) =>
      call(settingsProfile, { params: { user_id: userId }, body: { name: name.trim(), phone: phone.trim() } }),
    onSuccess: () => toast.success(settingsUpdated),
    onError: (error) => toast.error(profileFailure(error)),
    onSettled: () => {
      for (const queryKey of [keys.settings(userId), keys.profile(userId)]) void client.invalidateQueries({ queryKey });
    },
  });
  const submit = form.onSubmit((fields) => {
    if (!isPending) mutate(fields);
  });
  return (
    <form className={classes.form} noValidate onSubmit={submit} aria-label="Profile">
      <h2>Profile</h2>
      <TextInput label="Name" autoComplete="name" maxLength={maxNameLength} {...form.getInputProps("name")} />
      <TextInput
        label="Email"
        type="email"
        value={profile.email}
        readOnly
        description="Email cannot be changed. Contact support for assistance."
        inputWrapperOrder={["label", "input", "description", "error"]}
        className={classes.readonly ?? ""}
      />
      <TextInput
        label="Phone (optional)"
        type="tel"
        autoComplete="tel"
        placeholder="+1 555 010 0199"
        maxLength={maxPhoneLength}
        {...form.getInputProps("phone")}
      />
      <div className={classes.save}>
        <Button type="submit" loading={isPending}>
          Save Changes
        </Button>
      </div>
    </form>
  );
}
