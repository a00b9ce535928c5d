import { sql } from "kysely";
import type { RowOf, Tx } from "../../database/database.ts";
import { unitOfHosts } from "../../environments/leases/read-unit.ts";
import type { ReceiptDocument } from "./receipt-document.ts";
import { computeTax, nextSerial, type Seller, serialText } from "./tax.ts";

/** The invoice number (G18). The prefix of payment ids is unique in the database. */
export function invoiceNumber(paymentId: string): string {
  return `INV-${paymentId.slice(0, 11)}`;
}

interface Sale {
  readonly order: RowOf<"orders"> & { readonly now: Date };
  readonly payment: RowOf<"payments">;
  /** Set for taxed sales. */
  readonly seller: Seller | undefined;
}

/**
 * Issues the receipt, as the last step of the transaction that records a capture: the lock on a tax series blocks all other
 * sales.
 */
export async function issueReceipt(tx: Tx, { order, payment, seller }: Sale): Promise<void> {
  const { id: payment_id, user_id, amount_minor: amountMinor, currency } = payment;
  const { rows } = await sql<{ name: string | null; email: string | null; unit: "gpu" | "cpu" | "both" }>`
    select name, email, ${unitOfHosts} as unit
    from (values (${user_id})) buyer (id) left join profiles on user_id = buyer.id`.execute(tx);
  const [customer] = rows;
  const serial = seller && (await nextSerial(tx, "I", order.mode, order.now));
  const { container_type, gpu_count, duration_hours, subdomain, usd_minor, inr_paise_per_usd, mode } = order;
  const { gateway_payment_id, method, card_network, card_last4, paid_from } = payment;
  const number = invoiceNumber(payment_id);
  const document: ReceiptDocument = {
    number,
    issued_at: order.now.toISOString(),
    created_at: order.created_at.toISOString(),
    customer_name: customer?.name ?? "",
    customer_email: customer?.email ?? "",
    ...{ gateway_payment_id, amount_minor: amountMinor, currency, method, card_network, card_last4, paid_from },
    ...{ container_type, gpu_count, duration_hours, subdomain, usd_minor, inr_paise_per_usd, mode },
    unit: customer?.unit === "cpu" ? "cpu" : "gpu",
    tax: seller && serial ? { serial: serialText(serial), ...computeTax(seller, { amountMinor, currency }) } : null,
  };
  await tx
    .insertInto("receipts")
    .values({ payment_id, number, user_id, document: JSON.stringify(document), ...serial })
    .execute();
}
