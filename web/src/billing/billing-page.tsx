import { Button, Tabs } from "@mantine/core";
import { useSearchParams } from "react-router";
import { useSession } from "../api/session.ts";
import { UnpaidOrders } from "../environments/unpaid/unpaid-orders.tsx";
import { EmptyState, FreeSlots } from "../ui/display/empty-state.tsx";
import { Notice } from "../ui/display/notice.tsx";
import { usePrinting } from "../ui/display/use-printing.ts";
import { BillingOverview } from "./billing-overview.tsx";
import classes from "./billing-page.module.css";
import { BillingSkeleton } from "./billing-skeleton.tsx";
import { BillingStats } from "./billing-stats.tsx";
import { ComingPrices } from "./coming-prices.tsx";
import { CreditsSection } from "./credits-section.tsx";
import { CsvButton } from "./csv-button.tsx";
import { PaymentHistory } from "./payment-history.tsx";
import { PrintedHistory } from "./printed-history.tsx";
import { billingTab, type Statement } from "./statement.ts";
import { useBilling } from "./use-billing.ts";

const failed = "Unable to load billing data";

/** Spec 2.10, Billing and Usage. */
export function BillingPage() {
  const userId = useSession()?.userId;
  // Shown until the guard redirects to /login.
  return userId === undefined ? <Failed reason="User not authenticated" /> : <Loaded userId={userId} />;
}

function Loaded({ userId }: { readonly userId: string }) {
  const { statement, reason } = useBilling(userId);
  const printing = usePrinting();
  if (!statement) return reason === undefined ? <BillingSkeleton /> : <Failed reason={reason} />;
  if (printing) return <PrintedHistory userId={userId} invoices={statement.invoices} />;
  return (
    <div className={classes.page}>
      {reason !== undefined && (
        <Notice tone="fail" title={failed} action={<TryAgain />}>
          {reason}. What stands here is from before.
        </Notice>
      )}
      <UnpaidOrders userId={userId} />
      <BillingStats statement={statement} />
      <ComingPrices />
      <Panels userId={userId} statement={statement} />
    </div>
  );
}

/** The open tab is in the URL (CONTRIBUTING 10). */
function Panels({ userId, statement }: { readonly userId: string; readonly statement: Statement }) {
  const [params, setParams] = useSearchParams();
  const open = (tab: string | null) =>
    setParams(tab === "invoices" ? { tab } : {}, { replace: true, preventScrollReset: true });
  return (
    <Tabs value={billingTab(params)} onChange={open} keepMounted={false}>
      <Tabs.List mb={24} aria-label="Billing">
        <Tabs.Tab value="overview">Overview</Tabs.Tab>
        <Tabs.Tab value="invoices">Payment History</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="overview">
        <BillingOverview statement={statement} />
        <CreditsSection userId={userId} />
      </Tabs.Panel>
      <Tabs.Panel value="invoices">
        {statement.invoices.length === 0 ? (
          <EmptyState title="No payment history available" />
        ) : (
          <>
            <PaymentHistory userId={userId} invoices={statement.invoices} />
            <div className={classes.csv}>
              <CsvButton userId={userId} />
            </div>
          </>
        )}
      </Tabs.Panel>
    </Tabs>
  );
}

function Failed({ reason }: { readonly reason: string }) {
  return (
    <EmptyState title={failed} picture={<FreeSlots failed />} action={<TryAgain />}>
      {reason}. Your payments and environments are not affected.
    </EmptyState>
  );
}

/** Reloads the page (spec 8.5), which also loads the newest app after an upgrade. */
function TryAgain() {
  return <Button onClick={() => location.reload()}>Try Again</Button>;
}
