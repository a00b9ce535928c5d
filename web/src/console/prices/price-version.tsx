import { durationLabel, plural } from "@berth/contract";
import type { OperatedPrices } from "@berth/contract/console/catalogue";
import { money, rateText } from "../../format.ts";
import { Facts } from "../../ui/display/facts.tsx";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import list from "../frame/list.module.css";
import { dayText } from "./day-text.ts";
import classes from "./prices-page.module.css";

const columns = ["GPUs", { label: "An hour", end: true }, { label: "A month", end: true }];

/** One version of the prices: in force, or coming on its day. */
export function PriceVersion({ version: { from, state, rows, hours, currencies } }: { version: OperatedPrices }) {
  const others = currencies.filter(({ code }) => code !== "USD");
  return (
    <section aria-label={`Prices from ${dayText(from)}`}>
      <div className={classes.version}>
        <h2>Prices from {dayText(from)}</h2>
        {state === "coming" ? <Tag tone="wait">Coming</Tag> : <Tag tone="live">In force</Tag>}
      </div>
      <Table className={`${list.rows} ${classes.prices}`} columns={columns}>
        {rows.map(({ gpus, hourly_cents, hourly_label, monthly_cents, monthly_label }) => (
          <tr key={gpus}>
            <th scope="row" data-label="GPUs">
              {plural(gpus, "GPU")}
            </th>
            <td data-label="An hour" data-end>
              {money(hourly_cents, "USD")}
              {hourly_label !== "" && <small>{hourly_label}</small>}
            </td>
            <td data-label="A month" data-end>
              {monthly_cents === null ? "Not sold" : money(monthly_cents, "USD")}
              {monthly_label !== "" && <small>{monthly_label}</small>}
            </td>
          </tr>
        ))}
      </Table>
      <div className={classes.sold}>
        <Facts
          wide
          facts={[
            { label: "Durations", value: hours.map(durationLabel).join(", ") },
            ...others.map(({ code, rate_per_dollar, round_minor }) => ({
              label: code,
              value: `${rateText(rate_per_dollar / 100, code)} for a dollar, rounded to ${money(round_minor, code)}`,
            })),
          ]}
        />
      </div>
    </section>
  );
}
