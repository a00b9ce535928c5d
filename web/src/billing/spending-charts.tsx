import { plural } from "@berth/contract";
import "@mantine/charts/styles.layer.css";
import { BarChart, LineChart } from "@mantine/charts";
import { moneyShort } from "../format.ts";
import overview from "./billing-overview.module.css";
import classes from "./billing-page.module.css";
import { amountText, chartText, longMonth, type Month, monthName, shortMonth } from "./statement.ts";

const axis = {
  axisLine: false,
  tickLine: false,
  tickMargin: 10,
  tick: { fontSize: 12, fill: "var(--ink-3)" },
};
const margin = { top: 8, right: 8, bottom: 0, left: 0 };
const common = {
  dataKey: "label",
  gridAxis: "x",
  strokeDasharray: "0",
  gridColor: "var(--line)",
  textColor: "var(--ink-3)",
} as const;

interface Point extends Month {
  readonly label: string;
  /** Past months in ink, the current month in the accent color. */
  readonly color: string;
  readonly running: boolean;
}

/** Six months as a line (300 px) and as bars (250 px), spec 2.10. `months` is oldest first and not empty. */
export function SpendingCharts({ months }: { readonly months: readonly Month[] }) {
  const points = months.map((month, index): Point => {
    const running = index === months.length - 1;
    const label = monthName(month.month, shortMonth);
    return { ...month, label, running, color: running ? "var(--live)" : "var(--ink-3)" };
  });
  return (
    <div className={overview.charts}>
      <Spending points={points} />
      <Payments points={points} />
    </div>
  );
}

function Spending({ points }: { readonly points: Point[] }) {
  const running = points.at(-1);
  const dear = Math.max(...points.map(({ totalPaid }) => totalPaid)) >= 1000;
  return (
    <section aria-labelledby="spending-title">
      <h2 id="spending-title" className="section-title">
        Monthly spending
      </h2>
      <p className={classes.caption}>
        Paid per month, refunds taken out. {running && monthName(running.month, { month: "long" })} so far in green.
      </p>
      <div role="img" aria-label={chartText("Monthly spending", points, ({ totalPaid }) => amountText(totalPaid))}>
        <LineChart
          {...common}
          h={300}
          data={points.map((point) => ({ ...point }))}
          series={[{ name: "totalPaid", label: "Paid", color: "var(--ink)" }]}
          valueFormatter={(value) => moneyShort(Math.round(value * 100), "USD")}
          curveType="linear"
          strokeWidth={1.5}
          xAxisProps={{ ...axis, padding: { left: 12, right: 12 } }}
          yAxisProps={{ ...axis, width: dear ? 56 : 44 }}
          lineChartProps={{ margin, accessibilityLayer: false }}
          lineProps={{ isAnimationActive: false, dot: Dot, activeDot: false }}
          tooltipProps={{
            content: ({ payload }) => (
              <Figure point={payload?.[0]?.payload} text={(point) => amountText(point.totalPaid)} />
            ),
          }}
        />
      </div>
    </section>
  );
}

function Payments({ points }: { readonly points: Point[] }) {
  const count = points.reduce((sum, { paymentCount }) => sum + paymentCount, 0);
  return (
    <section aria-labelledby="payments-title">
      <h2 id="payments-title" className="section-title">
        Payments per month
      </h2>
      <p className={classes.caption}>{plural(count, "payment")} in six months.</p>
      <div role="img" aria-label={chartText("Payments per month", points, ({ paymentCount }) => String(paymentCount))}>
        <BarChart
          {...common}
          h={250}
          data={points.map((point) => ({ ...point }))}
          series={[{ name: "paymentCount", label: "Payments", color: "var(--ink-3)" }]}
          maxBarWidth={22}
          xAxisProps={axis}
          yAxisProps={{ ...axis, width: 36, allowDecimals: false }}
          barChartProps={{ margin: { ...margin, right: 0 }, accessibilityLayer: false }}
          barProps={{ radius: [2, 2, 0, 0], isAnimationActive: false }}
          cursorFill="color-mix(in srgb, var(--ink) 5%, transparent)"
          tooltipProps={{
            content: ({ payload }) => (
              <Figure point={payload?.[0]?.payload} text={(point) => plural(point.paymentCount, "payment")} />
            ),
          }}
        />
      </div>
    </section>
  );
}

interface DotProps {
  readonly cx?: number | undefined;
  readonly cy?: number | undefined;
  readonly payload?: Point;
}

function Dot({ cx, cy, payload }: DotProps) {
  const now = payload?.running;
  return (
    <circle
      cx={cx}
      cy={cy}
      r={now ? 5 : 3}
      fill={now ? "var(--live)" : "var(--canvas)"}
      stroke={now ? "var(--canvas)" : "var(--ink)"}
      strokeWidth={now ? 2 : 1.5}
    />
  );
}

function Figure({ point, text }: { readonly point?: Point; readonly text: (point: Point) => string }) {
  if (!point) return null;
  return (
    <div className={overview.tooltip}>
      <span className="faint">{monthName(point.month, longMonth)}</span>
      <strong>{text(point)}</strong>
    </div>
  );
}
