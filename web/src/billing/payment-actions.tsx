import { Button } from "@mantine/core";
import { Link } from "react-router";
import { supportPath } from "../ui/controls/support-path.ts";
import classes from "./billing-page.module.css";
import { ReceiptButton } from "./receipt-button.tsx";
import { type Invoice, nameOf } from "./statement.ts";

interface Props {
  readonly userId: string;
  readonly invoice: Invoice;
}

/** The receipt of a payment (G86), and a support link with its identifiers (G70). */
export function PaymentActions({ userId, invoice }: Props) {
  const { number, session_id: session, payment_reference: payment } = invoice;
  return (
    <div className={classes.actions}>
      {invoice.status === "Paid" && <ReceiptButton userId={userId} number={number} />}
      <Button
        component={Link}
        to={supportPath({ issue: "payment_issues", session, payment })}
        size="xs"
        variant="subtle"
        aria-label={`Get support for ${nameOf(invoice)}`}
      >
        Get support
      </Button>
    </div>
  );
}
