import type { Order } from "@berth/contract";
import { CopyText } from "../ui/copy-text.tsx";
import { Facts } from "../ui/facts.tsx";
import classes from "./order-page.module.css";

/** What support, a bank and a refund ask for, each to be copied (G70). */
export function OrderReferences({ order }: { readonly order: Order }) {
  const { invoice, payment, session, bank } = order.references;
  const rows = [
    { label: "Invoice number", value: invoice },
    { label: "Payment reference", value: payment },
    { label: "Session ID", value: session },
    { label: "Order reference", value: order.id },
  ].map(({ label, value }) => ({ label, value: value === null ? "N/A" : copy(value, label) }));
  const refunds =
    bank.length === 0
      ? []
      : [
          {
            label: bank.length === 1 ? "Bank reference" : "Bank references",
            value: <span className={classes.stack}>{bank.map((value) => copy(value, "Bank reference"))}</span>,
          },
        ];
  return (
    <section className={classes.references} aria-labelledby="references-title">
      <h2 id="references-title" className="section-title">
        References
      </h2>
      <Facts wide facts={[...rows, ...refunds]} />
    </section>
  );
}

function copy(value: string, label: string) {
  // "Session ID" keeps its letters.
  const spoken = label === "Session ID" ? "session ID" : label.toLowerCase();
  return <CopyText key={value} value={value} label={spoken} />;
}
