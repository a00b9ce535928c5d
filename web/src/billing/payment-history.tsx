import { Link } from "react-router";
import { date } from "../format.ts";
import { CopyText } from "../ui/controls/copy-text.tsx";
import { Tag, type Tone } from "../ui/display/status.tsx";
import { Table } from "../ui/display/table.tsx";
import { usePrinting } from "../ui/display/use-printing.ts";
import classes from "./billing-page.module.css";
import { PaymentActions } from "./payment-actions.tsx";
import { amountText, type Invoice, nameOf } from "./statement.ts";

/** The badge has one of two literal texts (G17); its color and a line of text show the details. */
const badges: Readonly<Record<Invoice["state"], { readonly tone: Tone; readonly text: string }>> = {
  paid: { tone: "live", text: "" },
  pending: { tone: "wait", text: "Waiting for the bank" },
  failed: { tone: "fail", text: "Nothing was charged" },
  refunded: { tone: "rest", text: "" },
  partially_refunded: { tone: "hold", text: "" },
};

const columns = [
  ...["Invoice", "Date", "Description", "References", "Duration", "Status"],
  { label: "Amount", end: true },
  { label: "Actions", end: true, className: classes.actionsHead },
];

/** The latest ten, newest first (spec 2.10 and 3.3). */
export function PaymentHistory({
  userId,
  invoices,
}: {
  readonly userId: string;
  readonly invoices: readonly Invoice[];
}) {
  return (
    <>
      <Table className={`${classes.table} ${classes.invoices}`} columns={columns}>
        {invoices.map((invoice) => (
          <Row key={invoice.id} userId={userId} invoice={invoice} />
        ))}
      </Table>
      <p className={classes.hint}>
        The latest 10 payments, as charged. Totals above are list prices in USD. Refunds go to the original payment
        method.
      </p>
    </>
  );
}

function Row({ userId, invoice }: { readonly userId: string; readonly invoice: Invoice }) {
  const { number, order_id, description, duration, status, state, amount, currency, refunded } = invoice;
  const printing = usePrinting();
  return (
    <tr>
      <td data-cell="number">
        {state === "failed" ? noInvoice : <CopyText value={number} label={`invoice number ${number}`} />}
      </td>
      <td data-cell="date">{date(invoice.date)}</td>
      <td data-cell="description">
        {printing || order_id === "" ? (
          description
        ) : (
          <Link
            className="link target"
            to={`/billing/orders/${order_id}`}
            aria-label={`${description}, details of ${nameOf(invoice)}`}
          >
            {description}
          </Link>
        )}
      </td>
      <td data-cell="references">
        <References invoice={invoice} />
      </td>
      <td data-cell="duration">{duration}</td>
      <td data-cell="status">
        <Tag tone={badges[state].tone}>{status}</Tag>
        {badges[state].text !== "" && <small>{badges[state].text}</small>}
      </td>
      <td data-cell="amount" data-end>
        {amountText(amount, currency)}
        {refunded > 0 && <small>{amountText(refunded, currency)} refunded</small>}
      </td>
      <td data-cell="actions">
        <PaymentActions userId={userId} invoice={invoice} />
      </td>
    </tr>
  );
}

/** A number for nothing would read like a debt (G335). */
const noInvoice = "No invoice";

/** Identifiers for support and refunds (G70). */
function References({ invoice: { payment_reference, session_id } }: { readonly invoice: Invoice }) {
  return (
    <dl className={classes.references}>
      <div>
        <dt>Payment</dt>
        <dd>{payment_reference === "" ? "N/A" : <CopyText value={payment_reference} label="payment reference" />}</dd>
      </div>
      <div>
        <dt>Session</dt>
        <dd>{session_id === null ? "N/A" : <CopyText value={session_id} label="session ID" />}</dd>
      </div>
    </dl>
  );
}
