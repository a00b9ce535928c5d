import { plural } from "@berth/contract";
import { Link } from "react-router";
import { catalogue, prices } from "../catalogue.ts";
import { currencyChoice } from "../content/currency-choice.ts";
import { isMonthlySold } from "../content/environment-types.ts";
import { memoryOf } from "../content/gpu-words.ts";
import { money, moneyShort } from "../format.ts";
import { Slots } from "../ui/display/slots.tsx";
import { Table } from "../ui/display/table.tsx";
import classes from "./pricing.module.css";

const columns = [
  "GPUs",
  { label: "Memory", className: classes.memory },
  "Hourly",
  ...(isMonthlySold() ? ["Monthly, 720 hours"] : []),
  { label: <span className={classes.hidden}>Get started</span>, className: classes.go },
];

/** One table, because readers compare prices within a column. */
export function Pricing() {
  return (
    <section className={classes.pricing} id="pricing" aria-labelledby="pricing-title">
      <div className={classes.head}>
        <div>
          <h2 id="pricing-title">Pricing</h2>
          <p>
            Totals for the whole environment, not per card. Pay once for the hours you choose; nothing renews by itself.
          </p>
        </div>
      </div>
      <Table large className={classes.table} columns={columns}>
        {prices().rows.map((plan) => (
          <tr key={plan.gpus}>
            <th scope="row">
              <Slots filled={plan.gpus} size="lg" />
              <span>{plural(plan.gpus, "GPU")}</span>
            </th>
            <td className={classes.memory}>{memoryOf(plan.gpus, catalogue.gpus)}</td>
            <td>
              <strong>{money(plan.hourlyCents, "USD")}</strong>
              <small>{plan.hourlyLabel}</small>
            </td>
            {isMonthlySold() && (
              <td>
                <strong>{moneyShort(plan.monthlyCents ?? 0, "USD")}</strong>
                <small>{plan.monthlyLabel}</small>
              </td>
            )}
            <td className={classes.go}>
              <Link to="/login" aria-label={`Get started with ${plural(plan.gpus, "GPU")}`}>
                Get started
              </Link>
            </td>
          </tr>
        ))}
      </Table>
      <Notes />
    </section>
  );
}

function Notes() {
  return (
    <p className={classes.notes}>
      <span>
        <b>Hourly</b> frees its GPUs when you stop and banks the time that is left.
      </span>
      {isMonthlySold() && (
        <span>
          <b>Monthly</b> holds its GPUs for all 720 hours, even while stopped, with guaranteed availability, 24/7
          dedicated support, custom configurations and volume discount.
        </span>
      )}
      <span>
        <b>Currency</b> is your choice before you pay: {currencyChoice()}
      </span>
    </p>
  );
}
