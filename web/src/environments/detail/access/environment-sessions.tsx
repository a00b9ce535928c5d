import { dateTime, duration } from "../../../format.ts";
import { CopyText } from "../../../ui/controls/copy-text.tsx";
import { Table } from "../../../ui/display/table.tsx";
import { useNow } from "../../../ui/display/use-now.ts";
import type { Detail } from "../../lifecycle/environment.ts";
import table from "../detail-table.module.css";
import classes from "./environment-sessions.module.css";

const reasons: Readonly<Record<string, string>> = {
  stopped: "Stopped",
  idle: "Stopped, because it was idle",
  silent: "Stopped, because JupyterLab did not answer",
  no_home: "Stopped, because its files were not there",
  rollover: "168 hours, the next followed",
  expired: "Time is used up",
  terminated: "Terminated",
  hardware: "Hardware failed",
  operator: "Ended by the operator",
};

interface Props extends Pick<Detail, "sessions"> {
  /** Since when the clock of the open one stands. */
  readonly since?: string | null;
}

/** The sessions, with the IDs that refunds and support need (G22, G32, G70). */
export function EnvironmentSessions({ sessions, since = null }: Props) {
  const now = useNow();
  return (
    <section aria-labelledby="sessions-title">
      <h2 id="sessions-title" className="section-title">
        Sessions
      </h2>
      {sessions.length === 0 ? (
        <p className={classes.none}>The first one begins when JupyterLab answers.</p>
      ) : (
        <Table columns={["Session ID", "Began", "Ended", "Ran"]} className={`${table.table} ${classes.table}`}>
          {sessions.map(({ id, opened_at, closed_at, reason }) => (
            <tr key={id}>
              <th scope="row">
                <CopyText value={id} label="session ID" />
              </th>
              <td>{dateTime(opened_at, now)}</td>
              <td>
                {closed_at === null ? <OpenEnd since={since} now={now} /> : dateTime(closed_at, now)}
                {closed_at !== null && reason !== null && <small>{reasons[reason] ?? "Ended"}</small>}
              </td>
              <td>{duration((endOf(closed_at ?? since, now) - Date.parse(opened_at)) / 1000)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

const endOf = (at: string | null, now: number) => (at === null ? now : Date.parse(at));

function OpenEnd({ since, now }: { readonly since: string | null; readonly now: number }) {
  if (since === null) return <span className={classes.now}>Now</span>;
  return (
    <>
      {dateTime(since, now)}
      <small>The machine gives no sign since then</small>
    </>
  );
}
