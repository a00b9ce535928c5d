import { receipt } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";
import { ApiError } from "../api/client.ts";
import { download } from "../api/download.ts";
import { notices } from "../content/notices.ts";
import { supportPath } from "../ui/support-path.ts";
import { toast } from "../ui/toast.ts";
import classes from "./billing-page.module.css";
import type { Invoice } from "./figures.ts";

interface Props {
  readonly userId: string;
  readonly invoice: Invoice;
}

/** What a row can do: its receipt where money was paid (G86), and support that knows which payment is meant (G70). */
export function PaymentActions({ userId, invoice }: Props) {
  const { number, session_id: session, payment_reference: payment } = invoice;
  return (
    <div className={classes.actions}>
      {invoice.status === "Paid" && <Receipt userId={userId} number={number} />}
      <Button
        component={Link}
        to={supportPath({ issue: "payment_issues", session, payment })}
        size="xs"
        variant="subtle"
        aria-label={`Get support for ${number}`}
      >
        Get support
      </Button>
    </div>
  );
}

function Receipt({ userId, number }: { readonly userId: string; readonly number: string }) {
  const { mutate, isPending } = useMutation({
    mutationFn: () => download(receipt, { params: { user_id: userId, number }, body: {} }, `${number}.pdf`),
    onError: (error) =>
      toast.error(error instanceof ApiError ? `${notices.receiptFailed} ${error.message}` : notices.receiptFailed, {
        action: { label: notices.tryAgain, onClick: () => mutate() },
      }),
  });
  return (
    <Button
      size="xs"
      variant="subtle"
      aria-label={isPending ? `Preparing receipt ${number}` : `Receipt ${number}`}
      // Not `disabled`: the focus would be lost.
      aria-disabled={isPending}
      data-disabled={isPending}
      onClick={() => !isPending && mutate()}
    >
      {isPending ? "Preparing..." : "Receipt"}
    </Button>
  );
}
