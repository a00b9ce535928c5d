import { sql } from "kysely";
import { states } from "../../config/gstin.ts";
import type { Tx } from "../../database/database.ts";

/** The seller as registered for GST; without one receipts have no tax. */
export interface Seller {
  readonly gstin: string;
  readonly legalName: string;
  readonly address: string;
  /** Reference number of a letter of undertaking: exports go without tax. */
  readonly lut: string | undefined;
}

/** Composition of a supply's tax, fixed at the sale and reused for its credit notes. */
type Kind = "cgst_sgst" | "cgst_utgst" | "igst" | "none";

/** The tax part of a frozen document, in minor units of its currency. Taxable value and lines add up to the total. */
export interface TaxPart {
  /** At most 16 characters. */
  readonly serial: string;
  readonly seller: { readonly gstin: string; readonly legal_name: string; readonly address: string };
  readonly sac: string;
  readonly place_of_supply: string;
  readonly kind: Kind;
  readonly taxable_minor: number;
  readonly lines: readonly { readonly label: string; readonly amount_minor: number }[];
  /** Text that the law requires on an export. */
  readonly endorsement: string | null;
}

/** Service code of hosting and IT infrastructure provisioning services. */
const sac = "998315";
const withoutLegislature = ["04", "26", "31", "35", "38", "97"];
const longestSerial = 16;
const indiaMs = 5.5 * 3_600_000;

/**
 * Computes the tax included in a price. The currency decides, because no address is known: rupees are a sale in India to a
 * consumer, with the seller's state as place of supply (IGST Act 12(2)(b)(ii)); anything else is an export, without tax
 * under a letter of undertaking and with IGST otherwise.
 */
export function computeTax(
  seller: Seller,
  { amountMinor, currency }: { readonly amountMinor: number; readonly currency: string },
): Omit<TaxPart, "serial"> {
  const state = seller.gstin.slice(0, 2);
  const kind = kindOf(seller, currency, state);
  return {
    seller: { gstin: seller.gstin, legal_name: seller.legalName, address: seller.address },
    sac,
    place_of_supply: currency === "INR" ? `${states[state]} (${state})` : "Outside India (96)",
    kind,
    ...splitTax(kind, amountMinor),
    endorsement: currency === "INR" ? null : endorsementOf(seller),
  };
}

/** Tax of one credit note: the tax of everything credited with it less the tax of everything credited before. */
export function computeCreditedTax(
  kind: Kind,
  beforeMinor: number,
  afterMinor: number,
): Pick<TaxPart, "taxable_minor" | "lines"> {
  const [before, after] = [splitTax(kind, beforeMinor), splitTax(kind, afterMinor)];
  return {
    taxable_minor: after.taxable_minor - before.taxable_minor,
    lines: after.lines.map(({ label, amount_minor }, index) => ({
      label,
      amount_minor: amount_minor - (before.lines[index]?.amount_minor ?? 0),
    })),
  };
}

/** Splits in whole minor units: `round(total / 1.18)` is taxable, the rest is tax. The second half gets an odd unit. */
export function splitTax(kind: Kind, totalMinor: number): Pick<TaxPart, "taxable_minor" | "lines"> {
  if (kind === "none") return { taxable_minor: totalMinor, lines: [{ label: "IGST 0%", amount_minor: 0 }] };
  const taxable_minor = Math.floor((2 * totalMinor * 100 + 118) / (2 * 118));
  const tax = totalMinor - taxable_minor;
  if (kind === "igst") return { taxable_minor, lines: [{ label: "IGST 18%", amount_minor: tax }] };
  const half = Math.floor(tax / 2);
  const second = kind === "cgst_sgst" ? "SGST 9%" : "UTGST 9%";
  return {
    taxable_minor,
    lines: [
      { label: "CGST 9%", amount_minor: half },
      { label: second, amount_minor: tax - half },
    ],
  };
}

function kindOf({ lut }: Seller, currency: string, state: string): Kind {
  if (currency !== "INR") return lut ? "none" : "igst";
  return withoutLegislature.includes(state) ? "cgst_utgst" : "cgst_sgst";
}

function endorsementOf({ lut }: Seller): string {
  return lut
    ? `Supply meant for export under letter of undertaking (${lut}) without payment of integrated tax.`
    : "Supply meant for export on payment of integrated tax.";
}

/** The year in which a tax year starts: April to March, in Indian time. */
export function taxYear(at: Date): number {
  const india = new Date(at.getTime() + indiaMs);
  return india.getUTCFullYear() - (india.getUTCMonth() < 3 ? 1 : 0);
}

export interface Serial {
  readonly tax_series: string;
  readonly tax_year: number;
  readonly tax_no: number;
}

/**
 * Takes the next number of a series. Its row stays locked until the transaction ends, so that a rollback leaves no gap. Test
 * payments have a series of their own.
 */
export async function nextSerial(tx: Tx, kind: "I" | "C", mode: string, at: Date): Promise<Serial> {
  const series = `${mode === "live" ? "" : "T"}${kind}`;
  const year = taxYear(at);
  await sql`insert into invoice_series (series, year, next_no) values (${series}, ${year}, 1) on conflict do nothing`.execute(
    tx,
  );
  const { rows } = await sql<{ no: number }>`
    update invoice_series set next_no = next_no + 1 where series = ${series} and year = ${year}
    returning next_no - 1 as no`.execute(tx);
  return { tax_series: series, tax_year: year, tax_no: rows[0]?.no ?? 0 };
}

/** "I/26-27/00000001". */
export function serialText({ tax_series, tax_year, tax_no }: Serial): string {
  const years = [tax_year, tax_year + 1].map((year) => String(year % 100).padStart(2, "0"));
  const prefix = `${tax_series}/${years.join("-")}/`;
  return prefix + String(tax_no).padStart(longestSerial - prefix.length, "0");
}
