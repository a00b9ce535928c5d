import { Checkbox } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { Detail } from "../lifecycle/environment.ts";
import classes from "./environment-logs.module.css";
import { type Logs, useLogs } from "./use-logs.ts";

const stateTexts: Readonly<Record<Logs["state"], string>> = {
  opening: "Opening the log...",
  open: "The last 1,000 lines of this run, and what follows.",
  ended: "Nothing runs now. The log of a run goes with it.",
  unavailable: "The log cannot be read right now. It is asked for again by itself.",
};

/** A distance from the end that still counts as the end. */
const endTolerance = 24;

/** The output of the run (G86). */
export function EnvironmentLogs({ environment: { id, generation, status } }: { readonly environment: Detail }) {
  const { lines, state } = useLogs(id, `${generation} ${status === "stopped" || status === "terminated"}`);
  const [follow, setFollow] = useState(true);
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, lines]);
  return (
    <section aria-labelledby="logs-title">
      <div className={classes.head}>
        <div>
          <h2 id="logs-title" className="section-title">
            Logs
          </h2>
          <p>{stateTexts[state]}</p>
        </div>
        {lines.length > 0 && (
          <Checkbox label="Follow" checked={follow} onChange={(event) => setFollow(event.currentTarget.checked)} />
        )}
      </div>
      {lines.length > 0 && (
        // Focusable, because the keyboard scrolls only the focused element.
        <section
          ref={box}
          className={classes.lines}
          aria-label="Lines of the log"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls
          tabIndex={0}
          onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
            setFollow(scrollHeight - scrollTop - clientHeight < endTolerance)
          }
        >
          <pre>{lines.join("\n")}</pre>
        </section>
      )}
    </section>
  );
}
