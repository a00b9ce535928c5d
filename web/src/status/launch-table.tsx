import type { LaunchFigures, ProductStatus } from "@berth/contract";
import { statusTexts as texts } from "../content/status-texts.ts";
import { seconds } from "./seconds.ts";
import classes from "./status-page.module.css";

/** Cold and warm starts apart, because their times have nothing in common. */
export function LaunchTable({ status }: { status: ProductStatus | undefined }) {
  return (
    <table className={classes.table} aria-labelledby="launches">
      <thead>
        <tr>
          <th scope="col">Start</th>
          <th scope="col">Half</th>
          <th scope="col">95 of 100</th>
          <th scope="col" className={classes.count}>
            Launches
          </th>
        </tr>
      </thead>
      <tbody>
        <Row name={texts.cold} text={texts.coldText} figures={status?.cold} none={texts.noCold} />
        <Row name={texts.warm} text={texts.warmText} figures={status?.warm} none={texts.noWarm} />
      </tbody>
    </table>
  );
}

interface Props {
  readonly name: string;
  readonly text: string;
  /** Undefined while it loads, null if nothing was measured. */
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
          <td className={classes.count}>{figures.count.toLocaleString("en-US")}</td>
        </>
      ) : (
        <td colSpan={3} className={classes.none}>
          {figures === null ? none : ""}
        </td>
      )}
    </tr>
  );
}
