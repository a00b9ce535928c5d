import type { AuditedAct } from "@berth/contract/console/audit";
import { dateTime } from "../../format.ts";
import { Table } from "../../ui/display/table.tsx";
import list from "../frame/list.module.css";
import { actWords } from "./act-words.ts";

interface Props {
  readonly acts: readonly AuditedAct[];
  /** All acts are about the one thing that the page shows. */
  readonly ofOne?: boolean;
}

/** What operators did, newest first. */
export function ActTable({ acts, ofOne = false }: Props) {
  const columns = [{ label: "No", end: true }, "Time", "Who", "Action", ...(ofOne ? [] : ["On"]), "Reason"];
  return (
    <Table className={list.rows} columns={columns}>
      {acts.map(({ no, at, actor, act, subject, reason, details }) => (
        <tr key={no}>
          <td data-end data-label="No">
            {no}
          </td>
          <td data-label="Time">{dateTime(at)}</td>
          <td data-label="Who">{actor}</td>
          <td data-label="Action">
            {actWords(act) ?? act}
            {actWords(act) && <small className="mono">{act}</small>}
            {Object.keys(details).length > 0 && <small>{detailText(details)}</small>}
          </td>
          {!ofOne && (
            <td data-label="On" className="mono">
              {subject}
            </td>
          )}
          <td data-label="Reason">{reason}</td>
        </tr>
      ))}
    </Table>
  );
}

function detailText(details: AuditedAct["details"]): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ");
}
