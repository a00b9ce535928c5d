import { deleteAccount } from "@berth/contract";
import { useState } from "react";
import { call, said } from "../api/call.ts";
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

/** Says what is lost before it asks for the address and the password (G86). */
export function DeleteDialog({ opened, userId, email, onClose }: Props) {
  const [password, setPassword] = useState("");
  const close = () => {
    setPassword("");
    onClose();
  };
  const { busy, problem, clear, remove } = useDeletion(userId);
  return (
    <TypedConfirmation
      opened={opened}
      title="Delete your account?"
      expected={email}
      action="Delete Account"
      keep="Keep my account"
      busy={busy}
      ready={password !== ""}
      onClose={() => {
        clear();
        close();
      }}
      onConfirm={() => void remove(password)}
      more={
        <PasswordField
          className={classes.password ?? ""}
          label="Password"
          value={password}
          error={problem}
          autoComplete="current-password"
          onValue={(value) => {
            setPassword(value);
            clear();
          }}
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

function useDeletion(userId: string) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const remove = async (password: string) => {
    setBusy(true);
    // Another request may learn of the end before this one is answered.
    setLeaving(true);
    try {
      await call(deleteAccount, { params: { user_id: userId }, body: { password } });
      signOut();
      toast.success("Your account is deleted");
    } catch (error) {
      setLeaving(false);
      setProblem(said(error, "No answer from the server. Nothing is known to be deleted; try again."));
      setBusy(false);
    }
  };
  return { busy, problem, remove, clear: () => setProblem(undefined) };
}
