import { useSession } from "../api/session.ts";
import { useBrand } from "../api/use-brand.ts";
import { EmptyState } from "../ui/display/empty-state.tsx";
import classes from "./billing-page.module.css";
import { PaymentHistory } from "./payment-history.tsx";
import type { Invoice } from "./statement.ts";

interface Props {
  readonly userId: string;
  readonly invoices: readonly Invoice[];
}

/** Billing in print, for any open tab: payments, buyer and seller, without charts and buttons. */
export function PrintedHistory({ userId, invoices }: Props) {
  const { name, email } = useBrand();
  return (
    <div className={classes.printed}>
      <h2>Payment history</h2>
      <p>
        {useSession()?.email}, {name} ({email})
      </p>
      {invoices.length === 0 ? (
        <EmptyState title="No payment history available" />
      ) : (
        <PaymentHistory userId={userId} invoices={invoices} />
      )}
    </div>
  );
}
