import { formatInstant } from "../format-instant.ts";
import { formatAmount } from "../payments/format-amount.ts";
import type { Receipt, Refund } from "./receipt.ts";

export interface Row {
  readonly label: string;
  readonly value: string;
  /** Totals and what they are made of. */
  readonly strong?: true;
}

export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** The receipt in words, from top to bottom. What people typed is in it as they typed it. */
export function receiptSections(receipt: Receipt): readonly Section[] {
  const { customer_name: name, customer_email: email, session_id: session } = receipt;
  return [
    {
      title: "Receipt",
      rows: [
        { label: "Invoice number", value: receipt.number },
        { label: "Ordered", value: formatInstant(receipt.created_at) },
        { label: "Paid", value: formatInstant(receipt.issued_at) },
        ...(name.trim() === "" ? [] : [{ label: "Customer", value: name }]),
        { label: "E-mail", value: email },
      ],
    },
    { title: "What was bought", rows: bought(receipt) },
    { title: "Amount", rows: paid(receipt) },
    {
      title: "References",
      rows: [
        { label: "Payment reference", value: receipt.gateway_payment_id },
        { label: "Session ID", value: session ?? "N/A" },
        ...methodOf(receipt),
      ],
    },
  ];
}

/** What stands under the figures. */
export function receiptNotes({ mode }: Receipt): readonly string[] {
  const test = mode === "live" ? [] : ["Paid in test mode: no money moved."];
  return ["Pay once, nothing renews by itself.", ...test, "Times are UTC."];
}

function bought({ container_type, gpu_count, duration_hours, subdomain }: Receipt): readonly Row[] {
  return [
    { label: "Item", value: `${container_type || "GPU"} Environment` },
    { label: "Environment name", value: subdomain },
    { label: "GPUs", value: String(gpu_count) },
    { label: "Booked", value: `${duration_hours} hour${duration_hours === 1 ? "" : "s"}` },
  ];
}

/** The list price is in USD; the rate is the order's own, frozen with it (G7). */
function paid({
  usd_minor,
  amount_minor,
  currency,
  refund_minor,
  inr_paise_per_usd,
  refunds,
}: Receipt): readonly Row[] {
  const rate = `1 USD = ${(inr_paise_per_usd / 100).toFixed(2)} INR, fixed with the order`;
  return [
    { label: "List price", value: withCode(usd_minor, "USD") },
    ...(currency === "USD" ? [] : [{ label: "Rate", value: rate }]),
    { label: "Charged", value: withCode(amount_minor, currency), strong: true },
    ...refunds.map((refund) => refunded(refund, currency)),
    ...(refunds.length === 0
      ? []
      : [{ label: "After refunds", value: withCode(amount_minor - refund_minor, currency), strong: true as const }]),
  ];
}

/** Failed ones are asked for again until they arrive: they are still owed. */
function refunded({ amount_minor, status, created_at, processed_at, arn }: Refund, currency: string): Row {
  const bank = arn ? `, bank reference ${arn}` : "";
  const label = processed_at
    ? `Refunded ${formatInstant(processed_at)}${bank}`
    : `Refund started ${formatInstant(created_at)}`;
  const late = status === "failed" ? " (delayed, asked for again)" : "";
  return { label: `${label}${late}`, value: `-${withCode(amount_minor, currency)}` };
}

function methodOf({ method, card_network, card_last4 }: Receipt): readonly Row[] {
  const card = card_last4 ? `${card_network ?? "Card"} ending in ${card_last4}` : method;
  return card ? [{ label: "Paid with", value: card }] : [];
}

function withCode(minor: number, currency: string): string {
  return `${formatAmount(minor, currency)} ${currency}`;
}
