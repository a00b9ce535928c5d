import type { LaunchFigures, ProductStatus } from "@berth/contract";
import { plural } from "@berth/contract";
import { meaningful } from "../content/meaningful.ts";
import { statusTexts as texts } from "../content/status-texts.ts";
import { seconds } from "../format.ts";
import { Table } from "../ui/display/table.tsx";
import classes from "./status-page.module.css";

/** Cold and warm starts separately, because their times differ widely. */
export function LaunchTable({ status }: { status: ProductStatus | undefined }) {
  return (
    <Table
      columns={["Start", "Half", "95 of 100", { label: "Launches", end: true }]}
      large
      className={classes.table}
      aria-labelledby="launches"
    >
      <Row name={texts.cold} text={texts.coldText} figures={status?.cold} none={texts.noCold} />
      <Row name={texts.warm} text={texts.warmText} figures={status?.warm} none={texts.noWarm} />
    </Table>
  );
}

/** Half and 95 of 100 stand here from 20 launches on (G310). */
function tooFew(count: number): string {
  return `${plural(count, "launch", "launches")} so far; times stand here from 20 on.`;
}

interface Props {
  readonly name: string;
  readonly text: string;
  /** Undefined while loading, null without measurements. */
  readonly figures: LaunchFigures | null | undefined;
  readonly none: string;
}

function Row({ name, text, figures, none }: Props) {
  const measured = meaningful(figures);
  return (
    <tr>
      <th scope="row">
        {name}
        <small>{text}</small>
      </th>
      {measured ? (
        <>
          <td>
            <strong>{seconds(measured.p50_ms)}</strong>
          </td>
          <td>
            <strong>{seconds(measured.p95_ms)}</strong>
          </td>
          <td data-end>{measured.count.toLocaleString("en-US")}</td>
        </>
      ) : (
        <td colSpan={3} className={classes.none}>
          {figures ? tooFew(figures.count) : figures === null && none}
        </td>
      )}
    </tr>
  );
}
