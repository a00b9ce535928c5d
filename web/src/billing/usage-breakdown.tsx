import type { ContainerType } from "@berth/contract";
import { typeName } from "../content/environment-types.ts";
import { EmptyState } from "../ui/display/empty-state.tsx";
import classes from "./billing-page.module.css";
import { amountText, type Statement } from "./statement.ts";

type Row = Statement["usageBreakdown"][number];

/** Booked hours with the hours really run beside them (G32). */
export function UsageBreakdown({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <section className={classes.breakdown} aria-labelledby="breakdown-title">
      <h2 id="breakdown-title" className="section-title">
        Usage by environment type
      </h2>
      {rows.length === 0 ? <EmptyState title="No usage data available yet" /> : <Breakdown rows={rows} />}
    </section>
  );
}

function Breakdown({ rows }: { readonly rows: readonly Row[] }) {
  const total = (pick: (row: Row) => number) => rows.reduce((sum, row) => sum + pick(row), 0);
  const cost = total((row) => row.cost);
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">Type</th>
          <th scope="col" className={classes.right}>
            Booked hours
          </th>
          <th scope="col" className={classes.right}>
            Run hours
          </th>
          <th scope="col" className={`${classes.right} ${classes.shareCell}`}>
            Share of cost
          </th>
          <th scope="col" className={classes.right}>
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.service}>
            <th scope="row">{typeName(row.service as ContainerType)}</th>
            <td className={classes.right}>{hours(row.usage)}</td>
            <td className={classes.right}>{hours(row.run)}</td>
            <td className={`${classes.right} ${classes.shareCell}`}>
              <Share percent={cost > 0 ? Math.round((row.cost / cost) * 100) : 0} />
            </td>
            <td className={classes.right}>{amountText(row.cost)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Total</th>
          <td className={classes.right}>{hours(total((row) => row.usage))}</td>
          <td className={classes.right}>{hours(total((row) => row.run))}</td>
          <td className={classes.shareCell} />
          <td className={classes.right}>{amountText(cost)}</td>
        </tr>
      </tfoot>
    </table>
  );
}

function Share({ percent }: { readonly percent: number }) {
  return (
    <span className={classes.share}>
      <span>{percent}%</span>
      <i aria-hidden="true">
        <b style={{ width: `${percent}%` }} />
      </i>
    </span>
  );
}

function hours(value: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}
