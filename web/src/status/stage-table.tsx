import type { LaunchFigures, ProductStatus } from "@berth/contract";
import { statusTexts as texts } from "../content/status-texts.ts";
import { stageName } from "../environments/lifecycle/timeline-of.ts";
import { seconds } from "./seconds.ts";
import classes from "./status-page.module.css";

/** The promise (G38). The drawing ends there; longer stages touch the edge. */
const scaleMs = 30_000;
const lines = ["placed", "image", "started", "answering", "ready"] as const;

export function StageTable({ status }: { status: ProductStatus | undefined }) {
  return (
    <table className={classes.table} data-stages aria-labelledby="stages">
      <thead>
        <tr>
          <th scope="col">Stage</th>
          <th scope="col" className={classes.scale}>
            <span>0 s</span>
            <span>15 s</span>
            <span>30 s</span>
          </th>
          <th scope="col">Half</th>
          <th scope="col">95 of 100</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((stage) => (
          <Line key={stage} stage={stage} figures={status?.cold?.stages.find((each) => each.stage === stage)} />
        ))}
      </tbody>
      {status?.cold === null && <caption>{texts.noStages}</caption>}
    </table>
  );
}

interface Props {
  readonly stage: (typeof lines)[number];
  readonly figures: LaunchFigures["stages"][number] | undefined;
}

function Line({ stage, figures }: Props) {
  return (
    <tr>
      <th scope="row">{stageName(stage)}</th>
      <td className={classes.ruler}>{figures && <Span {...figures} />}</td>
      <td>{figures && `+${seconds(figures.p50_ms)}`}</td>
      <td>{figures && `+${seconds(figures.p95_ms)}`}</td>
    </tr>
  );
}

/** From the median to the slowest of 95 of 100, on the ruler. */
function Span({ p50_ms, p95_ms }: { readonly p50_ms: number; readonly p95_ms: number }) {
  const share = (ms: number) => `${Math.min(100, (ms / scaleMs) * 100)}%`;
  return (
    <span className={classes.track} aria-hidden="true">
      <i className={classes.most} style={{ left: share(p50_ms), right: `calc(100% - ${share(p95_ms)})` }} />
      <i className={classes.half} style={{ left: share(p50_ms) }} />
    </span>
  );
}
