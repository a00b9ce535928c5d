import { maxNameLength, maxPhoneLength, settingsProfile } from "@berth/contract";
import { Button, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { call } from "../api/call.ts";
import { keys } from "../api/queries.ts";
import { toast } from "../ui/toast/toast.ts";
import { profileFailure, settingsUpdated } from "./outcome-texts.ts";
import classes from "./settings-page.module.css";

interface Props {
  readonly userId: string;
  readonly profile: { readonly name: string; readonly email: string; readonly phone: string };
}

export function ProfileForm({ userId, profile }: Props) {
  const client = useQueryClient();
  const [name, setName] = useState(profile.name);
  const [phone, setPhone] = useState(profile.phone);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await call(settingsProfile, { params: { user_id: userId }, body: { name: name.trim(), phone: phone.trim() } });
      toast.success(settingsUpdated);
    } catch (error) {
      toast.error(profileFailure(error));
    } finally {
      setBusy(false);
    }
    for (const queryKey of [keys.settings(userId), keys.profile(userId)]) void client.invalidateQueries({ queryKey });
  };
  return (
    <form className={classes.form} noValidate onSubmit={(event) => void submit(event)} aria-label="Profile">
      <h2>Profile</h2>
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="name"
        maxLength={maxNameLength}
      />
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
        value={phone}
        onChange={(event) => setPhone(event.currentTarget.value)}
        autoComplete="tel"
        placeholder="+1 555 010 0199"
        maxLength={maxPhoneLength}
      />
      <div className={classes.save}>
        <Button type="submit" loading={busy}>
          Save Changes
        </Button>
      </div>
    </form>
  );
}
