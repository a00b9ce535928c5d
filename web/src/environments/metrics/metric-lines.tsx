import "@mantine/charts/styles.layer.css";
import { LineChart } from "@mantine/charts";
import type { Row } from "./metrics-of.ts";

interface Props {
  readonly rows: Row[];
  readonly names: readonly string[];
  /** Milliseconds since the epoch at the left and right edge. */
  readonly span: [number, number];
  readonly top: number;
}

/** Lines only; the text beside them has the values. */
export function MetricLines({ rows, names, span, top }: Props) {
  return (
    <LineChart
      h={56}
      data={rows}
      dataKey="at"
      series={names.map((name, index) => ({ name, color: index % 2 === 0 ? "var(--ink)" : "var(--ink-3)" }))}
      curveType="linear"
      strokeWidth={1.5}
      connectNulls={false}
      gridAxis="none"
      withXAxis={false}
      withYAxis={false}
      withDots={false}
      withTooltip={false}
      xAxisProps={{ type: "number", domain: span, allowDataOverflow: true }}
      yAxisProps={{ domain: [0, top] }}
      lineChartProps={{ margin: { top: 1, right: 0, bottom: 0, left: 0 }, accessibilityLayer: false }}
      lineProps={{ isAnimationActive: false, strokeLinecap: "round", strokeLinejoin: "round" }}
    />
  );
}
