import type { LaunchFigures, ProductStatus } from "@berth/contract";
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

interface Props {
  readonly name: string;
  readonly text: string;
  /** Undefined while loading, null without measurements. */
  readonly figures: LaunchFigures | null | undefined;
  readonly none: string;
}

function Row({ name, text, figures, none }: Props) {
  return (
    <tr>
      <th scope="row">
        {name}
        <small>{text}</small>
      </th>
      {figures ? (
        <>
          <td>
            <strong>{seconds(figures.p50_ms)}</strong>
          </td>
          <td>
            <strong>{seconds(figures.p95_ms)}</strong>
          </td>
          <td data-end>{figures.count.toLocaleString("en-US")}</td>
        </>
      ) : (
        <td colSpan={3} className={classes.none}>
          {figures === null ? none : ""}
        </td>
      )}
    </tr>
  );
}
