import { maxSupportText, type SupportCatalog } from "@berth/contract";
import { Button, Select, Textarea } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useId } from "react";
import { CopyMessage } from "./copy-message.tsx";
import { openChat } from "./open-chat.ts";
import classes from "./support-page.module.css";
import type { TicketDraft } from "./ticket-draft.ts";
import type { Support } from "./use-support.ts";
import type { useTicket } from "./use-ticket.ts";

interface Props {
  readonly support: Support;
  readonly types: SupportCatalog["issueTypes"];
  readonly first: TicketDraft;
  readonly busy: boolean;
  readonly onSend: ReturnType<typeof useTicket>["send"];
}

export function SupportForm({ support, types, first, busy, onSend }: Props) {
  const form = useForm({ initialValues: first });
  const counter = useId();
  const { issueType, description } = form.values;
  const incomplete = issueType === null || description.trim() === "";
  const topic = types.find(({ value }) => value === issueType)?.label ?? "";
  const submit = form.onSubmit((draft) => {
    if (incomplete || busy) return;
    onSend({ draft, topic }, () => form.setValues({ issueType: null, description: "" }));
  });
  return (
    <form className={classes.form} noValidate onSubmit={submit} aria-label="Support">
      <Select
        label="Issue type"
        placeholder="Choose one"
        data={types}
        allowDeselect={false}
        // Shows all eight, because a scrolling list would have to be focusable.
        withScrollArea={false}
        maxDropdownHeight={400}
        required
        withAsterisk={false}
        {...form.getInputProps("issueType")}
      />
      <Textarea
        label="Description"
        placeholder="What did you do, what happened, what did you expect?"
        rows={6}
        maxLength={maxSupportText}
        aria-describedby={counter}
        required
        withAsterisk={false}
        {...form.getInputProps("description")}
      />
      <p className={classes.counter} id={counter}>
        {description.length}/{maxSupportText}
      </p>
      <div className={classes.submit}>
        <Button type="submit" disabled={incomplete || busy}>
          {submitLabel(support, busy)}
        </Button>
        <Button variant="subtle" onClick={() => openChat(support.link(support.message()))}>
          Skip Form - Chat Directly
        </Button>
        <CopyMessage message={support.message(topic, description)} label="Copy instead" />
      </div>
    </form>
  );
}

/** Without an account of the operator the ticket is what is sent (G308). */
function submitLabel({ telegram, supportName }: Support, busy: boolean): string {
  if (telegram === "") return busy ? "Sending..." : "Send Message";
  return busy ? "Preparing Telegram..." : `Open Telegram Chat with ${supportName}`;
}
