import { payingAccount } from "@berth/contract";
import { formatInstant } from "../text/format-instant.ts";
import type { CreditNote } from "./read-receipt.ts";
import { customerRows, type Row, type Section, sellerSections, taxRows, withCode } from "./receipt-sections.ts";

const reasons: Readonly<Record<string, string>> = {
  not_delivered: "Not delivered",
  silent: "JupyterLab did not answer",
  cancelled: "Cancelled before it was delivered",
  late_payment: "Paid when it could no longer be delivered",
  surplus_payment: "Paid twice",
  wrong_amount: "Another amount than ordered",
  hardware: "The machine failed",
  discretionary: "Granted by our staff",
  external: "Refunded by hand",
};

/** Content of a credit note, from top to bottom, with user input unchanged. */
export function creditNoteSections(note: CreditNote): readonly Section[] {
  const { tax, number, receipt_number, receipt_serial, receipt_issued_at } = note;
  return [
    {
      title: "Credit note",
      rows: [
        { label: "Credit note number", value: number },
        ...(tax ? [{ label: "Serial number", value: tax.serial }] : []),
        { label: "Issued", value: formatInstant(note.issued_at) },
        { label: "For invoice", value: receipt_serial ? `${receipt_number}, ${receipt_serial}` : receipt_number },
        { label: "Of", value: formatInstant(new Date(receipt_issued_at)) },
        ...customerRows(note),
      ],
    },
    ...sellerSections(tax),
    {
      title: "What was refunded",
      rows: [
        { label: "Item", value: `${note.container_type || "GPU"} Environment` },
        { label: "Environment name", value: note.subdomain },
        { label: "Reason", value: reasons[note.reason] ?? note.reason },
      ],
    },
    { title: "Amount", rows: amounts(note) },
    { title: "References", rows: references(note) },
  ];
}

/** The lines below the figures. */
export function creditNoteNotes({ mode, tax, method }: CreditNote): readonly string[] {
  return [
    `The money goes back to ${payingAccount(method).name}. Banks take 4-5 business days.`,
    ...(tax?.endorsement ? [tax.endorsement] : []),
    ...(mode === "live" ? [] : ["Paid in test mode: no money moved."]),
    "Times are UTC.",
  ];
}

function amounts({ amount_minor, credited_minor, currency, tax }: CreditNote): readonly Row[] {
  return [
    { label: "Paid", value: withCode(amount_minor, currency) },
    ...taxRows(tax, currency),
    { label: "Credited", value: withCode(credited_minor, currency), strong: true },
  ];
}

function references({ gateway_payment_id, gateway_refund_id, arn }: CreditNote): readonly Row[] {
  return [
    { label: "Payment reference", value: gateway_payment_id },
    ...(gateway_refund_id ? [{ label: "Refund reference", value: gateway_refund_id }] : []),
    ...(arn ? [{ label: "Bank reference", value: arn }] : []),
  ];
}
