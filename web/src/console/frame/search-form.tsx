import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import list from "./list.module.css";

interface Props {
  readonly label: string;
  /** What was searched for; empty for all. */
  readonly text: string;
  readonly onSearch: (text: string) => void;
}

/** One field that finds by an id, a name or an address. */
export function SearchForm(props: Props) {
  return (
    <search>
      <Fields key={props.text} {...props} />
    </search>
  );
}

function Fields({ label, text, onSearch }: Props) {
  const [typed, setTyped] = useState(text);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSearch(typed.trim());
  };
  return (
    <form className={list.filter} onSubmit={submit}>
      <TextInput label={label} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} />
      <Button type="submit" variant="default">
        Find
      </Button>
      {text !== "" && (
        <Button variant="subtle" onClick={() => onSearch("")}>
          Clear
        </Button>
      )}
    </form>
  );
}
