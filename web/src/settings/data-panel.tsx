import { exportAccount } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call, messageOf } from "../api/call.ts";
import { saveText } from "../api/save-file.ts";
import { toast } from "../ui/toast/toast.ts";
import classes from "./data-panel.module.css";
import { DeleteDialog } from "./delete-dialog.tsx";
import page from "./settings-page.module.css";
import { SettingsPart } from "./settings-part.tsx";

interface Props {
  readonly userId: string;
  readonly email: string;
}

/** Data export and account deletion (G71). */
export function DataPanel({ userId, email }: Props) {
  const [deleting, setDeleting] = useState(false);
  const { mutate, isPending } = useMutation({
    mutationFn: () => saveExport(userId),
    onError: (error) => toast.error(messageOf(error), { title: "Your data could not be downloaded" }),
  });
  return (
    <div className={page.form}>
      <h2>Your data</h2>
      <SettingsPart id="export" title="Download">
        <p>
          Everything stored about you in one JSON file: profile, settings, environments, sessions, orders, payments,
          refunds, notifications, tickets, mails, sign-ins and public SSH keys. No passwords or tokens. The files of
          your environments are downloaded on the Environments page.
        </p>
        <Button variant="default" loading={isPending} onClick={() => mutate()}>
          Download
        </Button>
      </SettingsPart>
      <SettingsPart id="delete" title="Delete account">
        <p>
          Running environments end at once, their files are deleted, and unused time is not refunded. Receipts are kept
          without your name and email for as long as the law asks.
        </p>
        <Button variant="default" className={classes.danger ?? ""} onClick={() => setDeleting(true)}>
          Delete Account
        </Button>
      </SettingsPart>
      <DeleteDialog opened={deleting} userId={userId} email={email} onClose={() => setDeleting(false)} />
    </div>
  );
}

async function saveExport(userId: string): Promise<void> {
  const document = await call(exportAccount, { params: { user_id: userId }, body: {} });
  const name = `your-data-${document.exported_at.slice(0, 10)}.json`;
  saveText(name, JSON.stringify(document, null, 2), "application/json");
}
