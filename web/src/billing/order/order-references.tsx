import type { Order } from "@berth/contract";
import { Copies, References } from "../../ui/display/detail-page.tsx";

/** Identifiers to copy for support, a bank or a refund (G70). */
export function OrderReferences({ order }: { readonly order: Order }) {
  const { invoice, payment, session, bank } = order.references;
  const banks = bank.length === 1 ? "Bank reference" : "Bank references";
  return (
    <References
      facts={[
        { label: "Invoice number", value: <Copies values={[invoice]} label="invoice number" /> },
        { label: "Payment reference", value: <Copies values={[payment]} label="payment reference" /> },
        { label: "Session ID", value: <Copies values={[session]} label="session ID" /> },
        { label: "Order reference", value: <Copies values={[order.id]} label="order reference" /> },
        ...(bank.length > 0 ? [{ label: banks, value: <Copies values={bank} label="bank reference" /> }] : []),
      ]}
    />
  );
}
