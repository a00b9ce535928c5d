import { deleteAccount } from "@berth/contract";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { call, messageOf } from "../api/call.ts";
import { setLeaving, signOut } from "../api/session.ts";
import { PasswordField } from "../ui/controls/password-field.tsx";
import { TypedConfirmation } from "../ui/dialogs/typed-confirmation.tsx";
import { toast } from "../ui/toast/toast.ts";
import classes from "./data-panel.module.css";

interface Props {
  readonly opened: boolean;
  readonly userId: string;
  readonly email: string;
  readonly onClose: () => void;
}

/** Lists the losses, then requires the address and the password (G86). */
export function DeleteDialog({ opened, userId, email, onClose }: Props) {
  const form = useForm({ initialValues: { password: "" } });
  const { mutate, isPending } = useDeletion(userId, (text) => form.setFieldError("password", text));
  const { password } = form.values;
  return (
    <TypedConfirmation
      opened={opened}
      title="Delete your account?"
      expected={email}
      action="Delete Account"
      keep="Keep my account"
      busy={isPending}
      ready={password !== ""}
      onClose={() => {
        form.reset();
        onClose();
      }}
      onConfirm={() => mutate(password)}
      more={
        <PasswordField
          className={classes.password ?? ""}
          label="Password"
          autoComplete="current-password"
          {...form.getInputProps("password")}
        />
      }
    >
      This cannot be taken back:
      <ul className={classes.lost}>
        <li>running environments end at once, and all files are deleted</li>
        <li>time that is left or banked is not refunded</li>
        <li>an environment that is still starting is cancelled and refunded, and refunds under way still arrive</li>
        <li>you are signed out everywhere; receipts are kept without your name, as the law asks</li>
      </ul>
    </TypedConfirmation>
  );
}

function useDeletion(userId: string, onError: (text: string) => void) {
  return useMutation({
    mutationFn: (password: string) => call(deleteAccount, { params: { user_id: userId }, body: { password } }),
    // Marked first, because another request may get a 401 before this one returns.
    onMutate: () => setLeaving(true),
    onSuccess: () => {
      signOut();
      toast.success("Your account is deleted");
    },
    onError: (error) => {
      setLeaving(false);
      onError(messageOf(error, "No answer from the server. Nothing is known to be deleted; try again."));
    },
  });
}
