import { Button } from "@mantine/core";
import { ArrowUpRight } from "lucide-react";
import { CopyText } from "../ui/controls/copy-text.tsx";
import { Notice } from "../ui/display/notice.tsx";
import { CopyMessage } from "./copy-message.tsx";
import classes from "./support-page.module.css";
import type { Prepared } from "./use-ticket.ts";

interface Props {
  readonly prepared: Prepared;
  /** Whether the operator has a Telegram account; without one the ticket is what is promised (G308). */
  readonly chat: boolean;
}

/** The ticket, and the prepared link to the chat, with or without a ticket (G81). */
export function PreparedNotice({ prepared, chat }: Props) {
  if (!chat && prepared.saved) return <SavedTicket prepared={prepared} />;
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

function SavedTicket({ prepared: { code, link } }: Pick<Props, "prepared">) {
  return (
    <div className={classes.sent} role="status">
      <Notice tone="live" title={`Your message is here, ${code}`}>
        The answer comes by the bell and by e-mail. Support code <CopyText value={code} label="support code" />
      </Notice>
      <p className={classes.message}>
        Telegram has no account of this installation; it would ask whom to send to:{" "}
        <a className="link" href={link} target="_blank" rel="noopener noreferrer">
          Open Telegram to Send Message
        </a>
      </p>
    </div>
  );
}
