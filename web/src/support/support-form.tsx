import { issueTypes, maxSupportText, type SupportCatalog } from "@berth/contract";
import { Button, Select, Textarea } from "@mantine/core";
import { type FormEvent, useId, useState } from "react";
import { CopyMessage } from "./copy-message.tsx";
import { openChat } from "./open-chat.ts";
import classes from "./support-page.module.css";
import type { Draft } from "./ticket-draft.ts";
import type { Support } from "./use-support.ts";

interface Props {
  readonly support: Support;
  readonly types: SupportCatalog["issueTypes"];
  readonly first: Draft;
  readonly busy: boolean;
  /** Answers whether the form may be emptied. */
  readonly onSend: (draft: Draft, topic: string) => Promise<boolean>;
}

export function SupportForm({ support, types, first, busy, onSend }: Props) {
  const [draft, setDraft] = useState(first);
  const counter = useId();
  const { issueType, description } = draft;
  const incomplete = issueType === null || description.trim() === "";
  const topic = types.find(({ value }) => value === issueType)?.label ?? "";
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (incomplete || busy) return;
    if (await onSend(draft, topic)) setDraft({ issueType: null, description: "" });
  };
  return (
    <form className={classes.form} noValidate onSubmit={(event) => void submit(event)} aria-label="Support">
      <Select
        label="Issue type"
        placeholder="Choose one"
        data={types}
        value={issueType}
        onChange={(value) => setDraft({ ...draft, issueType: issueTypes.find((known) => known === value) ?? null })}
        allowDeselect={false}
        // All eight are seen: a list that scrolls would need the keyboard's focus.
        withScrollArea={false}
        maxDropdownHeight={400}
        required
        withAsterisk={false}
      />
      <Textarea
        label="Description"
        placeholder="What did you do, what happened, what did you expect?"
        rows={6}
        maxLength={maxSupportText}
        value={description}
        onChange={(event) => setDraft({ ...draft, description: event.currentTarget.value })}
        aria-describedby={counter}
        required
        withAsterisk={false}
      />
      <p className={classes.counter} id={counter}>
        {description.length}/{maxSupportText}
      </p>
      <div className={classes.submit}>
        <Button type="submit" disabled={incomplete || busy}>
          {busy ? "Preparing Telegram..." : `Open Telegram Chat with ${support.supportName}`}
        </Button>
        <Button variant="subtle" onClick={() => openChat(support.link(support.message()))}>
          Skip Form - Chat Directly
        </Button>
        <CopyMessage message={support.message(topic, description)} label="Copy instead" />
      </div>
    </form>
  );
}
