import { Button } from "@mantine/core";
import { ArrowUpRight } from "lucide-react";
import { CopyText } from "../ui/controls/copy-text.tsx";
import { Notice } from "../ui/display/notice.tsx";
import { CopyMessage } from "./copy-message.tsx";
import classes from "./support-page.module.css";
import type { Prepared } from "./use-ticket.ts";

/** The prepared link to the chat, with or without a ticket (G81). */
export function PreparedNotice({ prepared }: { readonly prepared: Prepared }) {
  return (
    <div className={classes.sent} role="status">
      <Notice
        tone={prepared.saved ? "live" : "wait"}
        title={prepared.status}
        action={
          <Button
            component="a"
            className={classes.go ?? ""}
            href={prepared.link}
            target="_blank"
            rel="noopener noreferrer"
            rightSection={<ArrowUpRight size={14} aria-hidden="true" />}
          >
            Open Telegram to Send Message
          </Button>
        }
      >
        Support code <CopyText value={prepared.code} label="support code" />
      </Notice>
      <p className={classes.message}>{prepared.message}</p>
      <CopyMessage message={prepared.message} label="Copy message" />
    </div>
  );
}
