import type { MouseEvent, ReactNode } from "react";

interface Props {
  readonly to: string;
  readonly onOpen: (path: string) => void;
  readonly title?: string;
  readonly children: ReactNode;
}

/** A link to a screen in a long list. The router's own renders at each change of the address, so at each key of a filter. */
export function RowLink({ to, onOpen, children, ...link }: Props) {
  return (
    <a href={to} {...link} onClick={openHere(to, onOpen)}>
      {children}
    </a>
  );
}

/** A plain click stays in the app; with a key held the browser opens a tab. */
export function openHere(path: string, onOpen: (path: string) => void) {
  return (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onOpen(path);
  };
}
