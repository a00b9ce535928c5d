import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { messageOf } from "../api/call.ts";
import { commonTexts } from "../content/common-texts.ts";
import classes from "./settings-part.module.css";

interface Props {
  readonly id: string;
  readonly title: string;
  /** What it shows is read by this query. */
  readonly query?: { readonly error: Error | null; readonly isFetching: boolean; readonly refetch: () => unknown };
  readonly children: ReactNode;
}

/** One of several parts of a tab. */
export function SettingsPart({ id, title, query, children }: Props) {
  return (
    <section className={classes.part} aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {query?.error && (
        <>
          <p role="alert">{messageOf(query.error)}</p>
          <Button variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
            {commonTexts.tryAgain}
          </Button>
        </>
      )}
      {children}
    </section>
  );
}
