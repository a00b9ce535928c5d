import { typeName } from "../content/environment-types.ts";
import { EmptyState } from "../ui/display/empty-state.tsx";
import { Table } from "../ui/display/table.tsx";
import overview from "./billing-overview.module.css";
import classes from "./billing-page.module.css";
import { amountText, type Statement } from "./statement.ts";

type Row = Statement["usageBreakdown"][number];

/** Booked hours beside the hours actually run (G32). */
export function UsageBreakdown({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <section className={overview.breakdown} aria-labelledby="breakdown-title">
      <h2 id="breakdown-title" className="section-title">
        Usage by environment type
      </h2>
      {rows.length === 0 ? <EmptyState title="No usage data available yet" /> : <Breakdown rows={rows} />}
    </section>
  );
}

function Breakdown({ rows }: { readonly rows: readonly Row[] }) {
  const cost = sumOf(rows, (row) => row.cost);
  return (
    <Table
      className={classes.table}
      columns={[
        "Type",
        { label: "Booked hours", end: true },
        { label: "Run hours", end: true },
        { label: "Share of cost", end: true, className: overview.shareCell },
        { label: "Cost", end: true },
      ]}
      foot={<Foot rows={rows} cost={cost} />}
    >
      {rows.map((row) => (
        <tr key={row.service}>
          <th scope="row">{typeName(row.service)}</th>
          <td data-end>{hours(row.usage)}</td>
          <td data-end>{runHours([row])}</td>
          <td data-end className={overview.shareCell}>
            <Share percent={cost > 0 ? Math.round((row.cost / cost) * 100) : 0} />
          </td>
          <td data-end>{amountText(row.cost)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Foot({ rows, cost }: { readonly rows: readonly Row[]; readonly cost: number }) {
  return (
    <tfoot>
      <tr>
        <th scope="row">Total</th>
        <td data-end>{hours(sumOf(rows, (row) => row.usage))}</td>
        <td data-end>{runHours(rows)}</td>
        <td className={overview.shareCell} />
        <td data-end>{amountText(cost)}</td>
      </tr>
    </tfoot>
  );
}

function Share({ percent }: { readonly percent: number }) {
  return (
    <span className={overview.share}>
      <span>{percent}%</span>
      <i aria-hidden="true">
        <b style={{ width: `${percent}%` }} />
      </i>
    </span>
  );
}

function sumOf(rows: readonly Row[], value: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + value(row), 0);
}

function runHours(rows: readonly Row[]): string {
  return rows.some(({ run }) => run === undefined) ? "N/A" : hours(sumOf(rows, ({ run = 0 }) => run));
}

function hours(value: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}
