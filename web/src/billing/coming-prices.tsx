import type { Prices } from "@berth/contract";
import { plural } from "@berth/contract";
import { useUnit } from "../api/use-unit.ts";
import { announcedPrices, prices } from "../catalogue.ts";
import { changedRates } from "../content/coming-prices.ts";
import { capitalised } from "../content/number-word.ts";
import { longDay, money } from "../format.ts";
import { Table } from "../ui/display/table.tsx";
import classes from "./billing-page.module.css";

/** The announced prices beside those of today (G152). */
export function ComingPrices() {
  return announcedPrices().map((version) => <Version key={version.from} version={version} />);
}

function Version({ version }: { readonly version: Prices }) {
  const { from, rows } = version;
  const unit = useUnit();
  const id = `prices-${from}`;
  const now = prices().rows;
  const isMonthly = rows.some(({ monthlyCents }) => monthlyCents !== null);
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="section-title">
        Prices from {longDay(from)}
      </h2>
      <p className={classes.caption}>What you order before then keeps its price. {changedRates(version)}</p>
      <Table
        className={classes.table}
        columns={[
          capitalised(unit.all),
          { label: "Per hour", end: true },
          ...(isMonthly ? [{ label: "Per month", end: true }] : []),
        ]}
      >
        {rows.map(({ gpus, hourlyCents, monthlyCents }) => {
          const before = now.find((row) => row.gpus === gpus);
          return (
            <tr key={gpus}>
              <th scope="row">{plural(gpus, unit.one)}</th>
              <Price then={hourlyCents} now={before?.hourlyCents} />
              {isMonthly && <Price then={monthlyCents} now={before?.monthlyCents} />}
            </tr>
          );
        })}
      </Table>
    </section>
  );
}

function Price({ then, now }: { readonly then: number | null; readonly now: number | null | undefined }) {
  return (
    <td data-end>
      {then === null ? "Not offered" : money(then, "USD")}
      <small className={classes.before}>{before(then, now)}</small>
    </td>
  );
}

function before(then: number | null, now: number | null | undefined): string {
  if (then === now) return "as now";
  return now === null || now === undefined ? "new" : `now ${money(now, "USD")}`;
}
