import { Link } from "react-router";
import { CopyText } from "../ui/copy-text.tsx";
import { Facts } from "../ui/facts.tsx";
import { supportPath } from "../ui/support-path.ts";
import type { Detail } from "./environment.ts";
import classes from "./environment-page.module.css";

/** What support, a bank and a refund ask for, each to be copied (G70). */
export function EnvironmentReferences({ environment }: { readonly environment: Detail }) {
  const { id, order_id, payment_reference, receipts, session_id } = environment;
  const copy = (value: string, label: string) => <CopyText key={value} value={value} label={label} />;
  return (
    <section className={classes.references} aria-labelledby="references-title">
      <h2 id="references-title" className="section-title">
        References
      </h2>
      <Facts
        wide
        facts={[
          { label: "Environment ID", value: copy(id, "environment ID") },
          {
            label: "Payment reference",
            value: payment_reference === null ? "N/A" : copy(payment_reference, "payment reference"),
          },
          {
            label: receipts.length > 1 ? "Receipts" : "Receipt",
            value:
              receipts.length === 0 ? (
                "N/A"
              ) : (
                <span className={classes.stack}>{receipts.map((number) => copy(number, "receipt number"))}</span>
              ),
          },
          {
            label: "Order",
            value: (
              <Link className="link" to={`/billing/orders/${order_id}`}>
                Order, payment and receipt
              </Link>
            ),
          },
          {
            label: "Help",
            value: (
              <Link
                className="link"
                to={supportPath({ issue: "container_issues", session: session_id, payment: payment_reference })}
              >
                Get support
              </Link>
            ),
          },
        ]}
      />
    </section>
  );
}
