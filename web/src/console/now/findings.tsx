import { plural } from "@berth/contract";
import type { Overview } from "@berth/contract/console/overview";
import { Button } from "@mantine/core";
import { dateTime } from "../../format.ts";
import { Notice } from "../../ui/display/notice.tsx";
import classes from "./now-page.module.css";

interface Props {
  readonly doctor: Overview["doctor"];
  readonly busy: boolean;
  readonly onAgain: () => void;
}

const shown = 20;

/** What the doctor found, with the time of that run; a new one runs in the background. */
export function Findings({ doctor, busy, onAgain }: Props) {
  const { checked_at, running, notes, findings } = doctor;
  const title =
    checked_at === null
      ? "Checking..."
      : findings.length === 0
        ? "No problems found"
        : plural(findings.length, "finding");
  return (
    <section aria-label="Findings">
      <div className={classes.head}>
        <div>
          <h2>{title}</h2>
          <p role="status">
            {checked_at !== null && `Checked ${dateTime(checked_at)}. `}
            {running && "A check is under way."}
          </p>
        </div>
        <Button variant="default" loading={busy} disabled={running} onClick={onAgain}>
          Check again
        </Button>
      </div>
      <div className={classes.findings}>
        {findings.map(({ what, remedy, rows }) => (
          <Notice key={what} tone="hold" title={what}>
            <ul className={classes.rows}>
              {rows.slice(0, shown).map((row) => (
                <li key={row}>{row}</li>
              ))}
            </ul>
            {rows.length > shown && <p>and {rows.length - shown} more</p>}
            Remedy: {remedy}.
          </Notice>
        ))}
        {notes.map((note) => (
          <Notice key={note} title={note} />
        ))}
      </div>
    </section>
  );
}
