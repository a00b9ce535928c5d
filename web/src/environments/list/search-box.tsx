import { TextInput } from "@mantine/core";
import { Search } from "lucide-react";
import { useEffect, useEffectEvent, useState } from "react";
import classes from "./list-toolbar.module.css";

/** Spec 9.2. */
const debounceMs = 300;

interface Props {
  /** What the URL says. */
  readonly search: string;
  readonly onSearch: (search: string) => void;
}

interface Typed {
  readonly text: string;
  /** What the URL said when it was last drawn. */
  readonly seen: string;
  /** Searched for, but not in the drawn URL yet: a long list takes its time, and typing goes on meanwhile. */
  readonly underWay: readonly string[];
}

/** Types at once, searches 300 ms later. Whatever else changes the URL (a tag, a link) wins over the box. */
export function SearchBox({ search, onSearch }: Props) {
  const [{ text, seen, underWay }, setTyped] = useState<Typed>({ text: search, seen: search, underWay: [] });
  if (search !== seen) {
    const own = underWay.indexOf(search);
    setTyped({ text: own < 0 ? search : text, seen: search, underWay: own < 0 ? [] : underWay.slice(own + 1) });
  }
  const sent = underWay.at(-1) ?? seen;
  // A page that is drawn again meanwhile does not make the search wait longer.
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
