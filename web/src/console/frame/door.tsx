import type { ReactNode } from "react";
import { pageSettings } from "../../api/page-settings.ts";
import { Mark } from "../../ui/display/logo.tsx";
import classes from "./door.module.css";

/** The frame of the screens before the sign-in. */
export function Door({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <main className={classes.door}>
      <p className={classes.brand}>
        <Mark />
        {pageSettings.name} operator
      </p>
      <h1>{title}</h1>
      {children}
    </main>
  );
}
