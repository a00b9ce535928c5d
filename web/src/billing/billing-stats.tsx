import { TrendingDown, TrendingUp } from "lucide-react";
import { Stats } from "../ui/display/stats.tsx";
import classes from "./billing-overview.module.css";
import { amountText, type Statement, type Trend, trendOf } from "./statement.ts";

/** The three summary cards (spec 2.10), in USD list prices minus refunds (G7, G20). */
export function BillingStats({ statement }: { readonly statement: Statement }) {
  const { currentMonthUsage, totalSpent, paymentCount, invoices } = statement;
  const trend = trendOf(statement);
  const refunded = invoices.some((invoice) => invoice.refunded > 0);
  const average = paymentCount > 0 ? `${amountText(totalSpent / paymentCount)} on average` : undefined;
  return (
    <Stats
      stats={[
        { label: "This month", value: amountText(currentMonthUsage), note: trend && <TrendNote {...trend} /> },
        { label: "Total spent", value: amountText(totalSpent), note: refunded ? "Refunds taken out" : undefined },
        { label: "Payments", value: paymentCount.toLocaleString("en-US"), note: average },
      ]}
    />
  );
}

function TrendNote({ trend, text }: Trend) {
  return (
    <span className={classes.trend}>
      {trend === "up" && <TrendingUp size={13} aria-hidden="true" />}
      {trend === "down" && <TrendingDown size={13} aria-hidden="true" />} {text}
    </span>
  );
}
