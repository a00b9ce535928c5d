import { Link } from "react-router";
import { bonusPrint } from "../content/bonus-print.ts";
import classes from "./landing.module.css";

const refunds = [
  {
    title: "Always refunded",
    items: [
      "You paid and no environment was delivered",
      "The hardware failed in a paid session",
      "Maintenance took significant paid time",
    ],
  },
  {
    title: "Made good, case by case",
    items: ["Accidental termination: a fresh session", "Partial downtime: a prorated refund or an extended session"],
  },
  {
    title: "Not refunded",
    items: ["Sessions that were completed or consumed", "Ending a session early yourself", "Use against the terms"],
  },
];

export function RefundPromise() {
  return (
    <section className={classes.section} aria-labelledby="refund-title">
      <div className={classes.split}>
        <div>
          <h2 id="refund-title">Not delivered? The money goes back.</h2>
          <p className={classes.intro}>
            Delivered later than ten minutes after you paid, two hours are added. Not delivered at all, the full amount
            goes back to the card or account that paid without a request, and your next environment gets 2 bonus hours.
            Banks take 4-5 business days to show it. <Link to="/refund">Refund policy</Link>
          </p>
          <p className={classes.smallPrint}>{bonusPrint}</p>
        </div>
        <div className={classes.refunds}>
          {refunds.map(({ title, items }) => (
            <div key={title}>
              <h3>{title}</h3>
              <ul>
                {items.map((item) => (
                  <li key={item}>{item}</li>
                ))}
              </ul>
            </div>
          ))}
        </div>
      </div>
    </section>
  );
}
