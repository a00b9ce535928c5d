import { paidWith, plural } from "@berth/contract";
import { formatAmount } from "../payments/ledger/format-amount.ts";
import type { TaxPart } from "../payments/ledger/tax.ts";
import { formatInstant } from "../text/format-instant.ts";
import type { Receipt, Refund } from "./read-receipt.ts";

export interface Row {
  readonly label: string;
  readonly value: string;
  /** Set for totals. */
  readonly strong?: true;
}

export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** Content of a receipt, from top to bottom, with user input unchanged. */
export function receiptSections(receipt: Receipt): readonly Section[] {
  const { session_id: session, tax } = receipt;
  return [
    {
      title: tax ? "Tax invoice" : "Receipt",
      rows: [
        { label: "Invoice number", value: receipt.number },
        ...(tax ? [{ label: "Serial number", value: tax.serial }] : []),
        { label: "Ordered", value: formatInstant(receipt.created_at) },
        { label: "Paid", value: formatInstant(receipt.issued_at) },
        ...customerRows(receipt),
      ],
    },
    ...sellerSections(tax),
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

/** The lines below the figures. */
export function receiptNotes({ mode, tax }: Receipt): readonly string[] {
  const test = mode === "live" ? [] : ["Paid in test mode: no money moved."];
  const export_ = tax?.endorsement ? [tax.endorsement] : [];
  return ["Pay once, nothing renews by itself.", ...export_, ...test, "Times are UTC."];
}

/** The customer; an empty name is left out. */
export function customerRows({
  customer_name: name,
  customer_email: email,
}: Pick<Receipt, "customer_name" | "customer_email">): readonly Row[] {
  return [...(name.trim() === "" ? [] : [{ label: "Customer", value: name }]), { label: "E-mail", value: email }];
}

/** The seller, as the law requires; empty without tax. */
export function sellerSections(tax: TaxPart | null): readonly Section[] {
  if (!tax) return [];
  const { seller, sac, place_of_supply } = tax;
  return [
    {
      title: "Seller",
      rows: [
        { label: "Legal name", value: seller.legal_name },
        { label: "Address", value: seller.address },
        { label: "GSTIN", value: seller.gstin },
        { label: "Service (SAC)", value: sac },
        { label: "Place of supply", value: place_of_supply },
        { label: "Tax payable on reverse charge", value: "No" },
      ],
    },
  ];
}

/** Taxable value and taxes, which add up to the amount. */
export function taxRows(tax: TaxPart | null, currency: string): readonly Row[] {
  if (!tax) return [];
  const lines = [{ label: "Taxable value", amount_minor: tax.taxable_minor }, ...tax.lines];
  return lines.map(({ label, amount_minor }) => ({ label, value: withCode(amount_minor, currency) }));
}

function bought({ container_type, gpu_count, unit, duration_hours, subdomain }: Receipt): readonly Row[] {
  return [
    { label: "Item", value: `${container_type || "GPU"} Environment` },
    { label: "Environment name", value: subdomain },
    { label: unit === "cpu" ? "Slots" : "GPUs", value: String(gpu_count) },
    { label: "Booked", value: plural(duration_hours, "hour") },
  ];
}

/** The list price is in USD; the exchange rate is frozen with the order (G7). */
function paid({
  usd_minor,
  amount_minor,
  currency,
  refund_minor,
  inr_paise_per_usd,
  refunds,
  disputed_minor,
  tax,
}: Receipt): readonly Row[] {
  const rate = `1 USD = ${(inr_paise_per_usd / 100).toFixed(2)} ${currency}, fixed with the order`;
  return [
    { label: "List price", value: withCode(usd_minor, "USD") },
    ...(currency === "USD" ? [] : [{ label: "Rate", value: rate }]),
    ...taxRows(tax, currency),
    { label: "Charged", value: withCode(amount_minor, currency), strong: true },
    ...refunds.map((refund) => refunded(refund, currency)),
    ...(disputed_minor === 0
      ? []
      : [{ label: "Taken back by your bank", value: `-${withCode(disputed_minor, currency)}` }]),
    ...(refunds.length === 0 && disputed_minor === 0
      ? []
      : [{ label: "After refunds", value: withCode(amount_minor - refund_minor, currency), strong: true as const }]),
  ];
}

/** Failed refunds are listed too, because they are retried until they arrive. */
function refunded({ amount_minor, status, created_at, processed_at, arn }: Refund, currency: string): Row {
  const bank = arn ? `, bank reference ${arn}` : "";
  const label = processed_at
    ? `Refunded ${formatInstant(processed_at)}${bank}`
    : `Refund started ${formatInstant(created_at)}`;
  const late = status === "failed" ? " (delayed, asked for again)" : "";
  return { label: `${label}${late}`, value: `-${withCode(amount_minor, currency)}` };
}

function methodOf(receipt: Receipt): readonly Row[] {
  const value = paidWith(receipt);
  return value ? [{ label: "Paid with", value }] : [];
}

export function withCode(minor: number, currency: string): string {
  return `${formatAmount(minor, currency)} ${currency}`;
}
