import { Table } from "../ui/display/table.tsx";
import overview from "./billing-overview.module.css";
import classes from "./billing-page.module.css";
import { amountText, longMonth, type Month, monthName } from "./statement.ts";

/** The values of both charts, as text. */
export function MonthFigures({ months }: { readonly months: readonly Month[] }) {
  return (
    <details className={overview.figures}>
      <summary>Figures by month</summary>
      <Table className={classes.table} columns={["Month", ...["Paid", "Payments", "Average"].map(atEnd)]}>
        {months.toReversed().map(({ month, totalPaid, paymentCount, avgPayment }) => (
          <tr key={month}>
            <th scope="row">{monthName(month, longMonth)}</th>
            <td data-end>{amountText(totalPaid)}</td>
            <td data-end>{paymentCount}</td>
            <td data-end>{paymentCount > 0 ? amountText(avgPayment) : "N/A"}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}

function atEnd(label: string) {
  return { label, end: true };
}
