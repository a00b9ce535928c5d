import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import list from "../frame/list.module.css";

export interface AuditView {
  readonly subject: string;
  /** "2026-11-23" in the viewer's zone; empty for any day. */
  readonly since: string;
}

interface Props {
  readonly view: AuditView;
  readonly onFilter: (view: AuditView) => void;
}

/** Narrows the acts to what they were about, and to a day and later. */
export function AuditFilter({ view, onFilter }: Props) {
  const [typed, setTyped] = useState(view);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onFilter({ ...typed, subject: typed.subject.trim() });
  };
  const isFiltered = view.subject !== "" || view.since !== "";
  return (
    <search>
      <form className={list.filter} onSubmit={submit}>
        <TextInput
          label="Id, name or address of what it was about"
          value={typed.subject}
          onChange={(event) => setTyped({ ...typed, subject: event.currentTarget.value })}
        />
        <TextInput
          type="date"
          label="Since"
          value={typed.since}
          onChange={(event) => setTyped({ ...typed, since: event.currentTarget.value })}
        />
        <Button type="submit" variant="default">
          Filter
        </Button>
        {isFiltered && (
          <Button variant="subtle" onClick={() => onFilter({ subject: "", since: "" })}>
            Clear
          </Button>
        )}
      </form>
    </search>
  );
}
