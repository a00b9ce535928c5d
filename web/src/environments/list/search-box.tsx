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
  readonly seen: string;
  /** Searches that are sent but not rendered yet: a long list takes time, and the user types on. */
  readonly underWay: readonly string[];
}

/** Searches 300 ms after the last key. Other changes of the URL (a tag, a link) replace the text. */
export function SearchBox({ search, onSearch }: Props) {
  const [{ text, seen, underWay }, setTyped] = useState<Typed>({ text: search, seen: search, underWay: [] });
  if (search !== seen) {
    const own = underWay.indexOf(search);
    setTyped({ text: own < 0 ? search : text, seen: search, underWay: own < 0 ? [] : underWay.slice(own + 1) });
  }
  const sent = underWay.at(-1) ?? seen;
  // A render meanwhile does not delay the search.
  const send = useEffectEvent(() => {
    setTyped((typed) => ({ ...typed, underWay: [...typed.underWay, text] }));
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
