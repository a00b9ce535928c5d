import { TextInput } from "@mantine/core";
import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import classes from "./environments-toolbar.module.css";

/** Spec section 9. */
const debounceMs = 300;

interface Props {
  /** What the URL says. */
  readonly search: string;
  readonly onSearch: (search: string) => void;
}

/** Types at once, searches 300 ms later. Whatever else changes the URL (Clear All, a tag, a link) wins over the box. */
export function SearchBox({ search, onSearch }: Props) {
  const [typed, setTyped] = useState({ text: search, from: search });
  const text = typed.from === search ? typed.text : search;
  useEffect(() => {
    if (text === search) return;
    const timer = setTimeout(() => {
      setTyped({ text, from: text });
      onSearch(text);
    }, debounceMs);
    return () => clearTimeout(timer);
  }, [text, search, onSearch]);
  return (
    <TextInput
      className={classes.search ?? ""}
      aria-label="Search environments"
      placeholder="Search"
      leftSection={<Search size={15} strokeWidth={1.6} />}
      value={text}
      onChange={(event) => setTyped({ text: event.currentTarget.value, from: search })}
    />
  );
}
