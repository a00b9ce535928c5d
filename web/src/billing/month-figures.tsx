import classes from "./billing-page.module.css";
import { amountText, longMonth, type Month, monthName } from "./statement.ts";

/** The values of both charts, as text. */
export function MonthFigures({ months }: { readonly months: readonly Month[] }) {
  return (
    <details className={classes.figures}>
      <summary>Figures by month</summary>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Month</th>
            <th scope="col" className={classes.right}>
              Paid
            </th>
            <th scope="col" className={classes.right}>
              Payments
            </th>
            <th scope="col" className={classes.right}>
              Average
            </th>
          </tr>
        </thead>
        <tbody>
          {months.toReversed().map(({ month, totalPaid, paymentCount, avgPayment }) => (
            <tr key={month}>
              <th scope="row">{monthName(month, longMonth)}</th>
              <td className={classes.right}>{amountText(totalPaid)}</td>
              <td className={classes.right}>{paymentCount}</td>
              <td className={classes.right}>{paymentCount > 0 ? amountText(avgPayment) : "N/A"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
