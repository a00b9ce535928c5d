import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";
import { Logo } from "../ui/display/logo.tsx";
import classes from "./plain-page.module.css";

export function PlainPage({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  useDocumentTitle(title);
  return (
    <div className={classes.page}>
      <header>
        <Logo />
      </header>
      <main>
        <h1>{title}</h1>
        {children && <p>{children}</p>}
        {action}
      </main>
    </div>
  );
}
