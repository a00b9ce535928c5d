import type { LaunchFigures, ProductStatus } from "@berth/contract";
import { meaningful } from "../content/meaningful.ts";
import { statusTexts as texts } from "../content/status-texts.ts";
import { type UnitWords, unitWords } from "../content/unit-words.ts";
import { stageName } from "../environments/lifecycle/timeline-of.ts";
import { seconds } from "../format.ts";
import { Table } from "../ui/display/table.tsx";
import classes from "./status-page.module.css";

/** The promised time (G38), where the scale ends; longer stages touch the edge. */
const scaleMs = 30_000;
const stages = ["placed", "image", "started", "answering", "ready"] as const;

const columns = [
  "Stage",
  {
    label: (
      <>
        <span>0 s</span>
        <span>15 s</span>
        <span>30 s</span>
      </>
    ),
    className: classes.scale,
  },
  "Half",
  "95 of 100",
];

export function StageTable({ status }: { status: ProductStatus | undefined }) {
  const unit = unitWords[status?.capacity.kind ?? "gpu"];
  const cold = meaningful(status?.cold);
  return (
    <Table
      columns={columns}
      large
      className={classes.table}
      data-stages
      aria-labelledby="stages"
      foot={status && !cold && <caption>{texts.noStages}</caption>}
    >
      {stages.map((stage) => (
        <Line key={stage} stage={stage} unit={unit} figures={cold?.stages.find((each) => each.stage === stage)} />
      ))}
    </Table>
  );
}

interface Props {
  readonly stage: (typeof stages)[number];
  readonly unit: UnitWords;
  readonly figures: LaunchFigures["stages"][number] | undefined;
}

function Line({ stage, unit, figures }: Props) {
  return (
    <tr>
      <th scope="row">{stageName(stage, unit)}</th>
      <td className={classes.ruler}>{figures && <Span {...figures} />}</td>
      <td>{figures && `+${seconds(figures.p50_ms)}`}</td>
      <td>{figures && `+${seconds(figures.p95_ms)}`}</td>
    </tr>
  );
}

/** From the median to the 95th percentile. */
function Span({ p50_ms, p95_ms }: { readonly p50_ms: number; readonly p95_ms: number }) {
  const share = (ms: number) => `${Math.min(100, (ms / scaleMs) * 100)}%`;
  return (
    <span className={classes.track} aria-hidden="true">
      <i className={classes.most} style={{ left: share(p50_ms), right: `calc(100% - ${share(p95_ms)})` }} />
      <i className={classes.half} style={{ left: share(p50_ms) }} />
    </span>
  );
}
