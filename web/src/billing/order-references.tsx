import type { Order } from "@berth/contract";
import { Copies, References } from "../ui/detail-page.tsx";

/** What support, a bank and a refund ask for, each to be copied (G70). */
export function OrderReferences({ order }: { readonly order: Order }) {
  const { invoice, payment, session, bank } = order.references;
  const rows = [
    { label: "Invoice number", spoken: "invoice number", values: [invoice] },
    { label: "Payment reference", spoken: "payment reference", values: [payment] },
    { label: "Session ID", spoken: "session ID", values: [session] },
    { label: "Order reference", spoken: "order reference", values: [order.id] },
    { label: bank.length === 1 ? "Bank reference" : "Bank references", spoken: "bank reference", values: bank },
  ].filter(({ values }) => values.length > 0);
  return (
    <References
      facts={rows.map(({ label, spoken, values }) => ({ label, value: <Copies values={values} label={spoken} /> }))}
    />
  );
}
