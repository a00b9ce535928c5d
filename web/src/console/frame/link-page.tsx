import { type OpenedLink, openOperatorLink, spendOperatorLink } from "@berth/contract/console/session";
import { Button, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { messageOf } from "../../api/call.ts";
import { pageSettings } from "../../api/page-settings.ts";
import { LoadingScreen } from "../../shell/loading-screen.tsx";
import { PasswordField } from "../../ui/controls/password-field.tsx";
import { RecoveryCodes } from "../../ui/display/recovery-codes.tsx";
import { callConsole } from "./call-console.ts";
import { sessionQuery } from "./console-client.ts";
import classes from "./door.module.css";
import { Door } from "./door.tsx";

/** A one-time link, whose code is in the fragment: sets password and second factor (G144). */
export function LinkPage() {
  useDocumentTitle(`Your account · ${pageSettings.name} operator`);
  const link = useLocation().hash.slice(1);
  const [codes, setCodes] = useState<readonly string[]>();
  const { data, error } = useQuery({
    queryKey: ["link", link],
    queryFn: () => callConsole(openOperatorLink, { params: {}, body: { link } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (codes) return <Ready codes={codes} />;
  if (error)
    return (
      <Door title="This link does not work">
        <p role="alert" className={classes.text}>
          {messageOf(error)}
        </p>
      </Door>
    );
  return data ? (
    <SetUp link={link} opened={data} onDone={setCodes} />
  ) : (
    <LoadingScreen>Opening your link...</LoadingScreen>
  );
}

interface SetUpProps {
  readonly link: string;
  readonly opened: OpenedLink;
  readonly onDone: (codes: readonly string[]) => void;
}

function SetUp({ link, opened, onDone }: SetUpProps) {
  const { email, second_factor: factor } = opened;
  const form = useForm({ initialValues: { password: "", code: "" } });
  const { mutate, isPending, error } = useMutation({
    mutationFn: (fields: typeof form.values) =>
      callConsole(spendOperatorLink, { params: {}, body: { link, ...fields } }),
    onSuccess: ({ recovery_codes }) => onDone(recovery_codes),
  });
  const submit = form.onSubmit((fields) => {
    if (!isPending) mutate(fields);
  });
  return (
    <Door title="Set up your account">
      <form className={classes.fields} noValidate onSubmit={submit} aria-label="Your account">
        <TextInput label="Email" value={email} readOnly autoComplete="username" />
        <PasswordField label="Password" autoComplete="new-password" {...form.getInputProps("password")} />
        {factor && (
          <div>
            <p className={classes.text}>Scan this with an authenticator app, then type the six digits that it shows.</p>
            <img className={classes.picture} src={factor.picture} alt="QR code of your second factor" />
            <p className={classes.text}>
              Or type this there: <span className="mono">{factor.secret.match(/.{1,4}/g)?.join(" ")}</span>
            </p>
            <TextInput label="Code" autoComplete="one-time-code" inputMode="numeric" {...form.getInputProps("code")} />
          </div>
        )}
        <p role="alert" className={classes.error}>
          {error && messageOf(error)}
        </p>
        <Button type="submit" size="md" fullWidth loading={isPending}>
          Set up and sign in
        </Button>
      </form>
    </Door>
  );
}

function Ready({ codes }: { readonly codes: readonly string[] }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const enter = async () => {
    await client.refetchQueries({ queryKey: sessionQuery.queryKey });
    await navigate("/", { replace: true });
  };
  return (
    <Door title="Your account is set up">
      {codes.length > 0 && <RecoveryCodes codes={codes} />}
      <Button size="md" fullWidth onClick={enter}>
        Open the console
      </Button>
    </Door>
  );
}
