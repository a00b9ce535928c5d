import { Link } from "react-router";
import { supportPath } from "../../ui/controls/support-path.ts";
import { Copies, References } from "../../ui/display/detail-page.tsx";
import type { Detail } from "../lifecycle/environment.ts";

/** Identifiers to copy for support, a bank or a refund (G70). */
export function EnvironmentReferences({ environment }: { readonly environment: Detail }) {
  const { id, order_id, payment_reference, receipts, session_id } = environment;
  const help = supportPath({ issue: "container_issues", session: session_id, payment: payment_reference });
  const link = (to: string, label: string) => (
    <Link className="link target" to={to}>
      {label}
    </Link>
  );
  return (
    <References
      facts={[
        { label: "Environment ID", value: <Copies values={[id]} label="environment ID" /> },
        { label: "Payment reference", value: <Copies values={[payment_reference]} label="payment reference" /> },
        {
          label: receipts.length > 1 ? "Receipts" : "Receipt",
          value: <Copies values={receipts} label="receipt number" />,
        },
        { label: "Order", value: link(`/billing/orders/${order_id}`, "Order, payment and receipt") },
        { label: "Help", value: link(help, "Get support") },
      ]}
    />
  );
}
