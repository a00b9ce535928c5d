import { TextInput } from "@mantine/core";
import { Search } from "lucide-react";
import { useEffect, useEffectEvent, useState } from "react";
import classes from "./list-toolbar.module.css";

/** Spec 9.2. */
const debounceMs = 300;

interface Props {
  /** From the URL. */
  readonly search: string;
  readonly onSearch: (search: string) => void;
}

interface Typed {
  readonly text: string;
  /** The search in the URL at the last render. */
  readonly rendered: string;
  /** Searches that are not rendered yet, because a long list takes time and the user keeps typing. */
  readonly pending: readonly string[];
}

/** Searches 300 ms after the last key. Other changes of the URL (a tag, a link) replace the text. */
export function SearchBox({ search, onSearch }: Props) {
  const [{ text, rendered, pending }, setTyped] = useState<Typed>({ text: search, rendered: search, pending: [] });
  if (search !== rendered) {
    const own = pending.indexOf(search);
    setTyped({ text: own < 0 ? search : text, rendered: search, pending: own < 0 ? [] : pending.slice(own + 1) });
  }
  const sent = pending.at(-1) ?? rendered;
  // An effect event, so that a render does not restart the timer.
  const send = useEffectEvent(() => {
    setTyped((typed) => ({ ...typed, pending: [...typed.pending, text] }));
    onSearch(text);
  });
  useEffect(() => {
    if (text === sent) return;
    const timer = setTimeout(send, debounceMs);
    return () => clearTimeout(timer);
  }, [text, sent]);
  return (
    <TextInput
      className={classes.search ?? ""}
      aria-label="Search environments"
      placeholder="Search"
      leftSection={<Search size={15} strokeWidth={1.6} />}
      value={text}
      onChange={({ currentTarget: { value } }) => setTyped((typed) => ({ ...typed, text: value }))}
    />
  );
}
