import { sql } from "kysely";
import { states } from "../../config/gstin.ts";
import type { Tx } from "../../database/database.ts";

/** Who sells, as registered for GST; without it there are receipts and no tax. */
export interface Seller {
  readonly gstin: string;
  readonly legalName: string;
  readonly address: string;
  /** Reference number of a letter of undertaking: exports go without tax. */
  readonly lut: string | undefined;
}

/** How the tax of one supply is made up, decided when it is sold and kept for its credit notes. */
type Kind = "cgst_sgst" | "cgst_utgst" | "igst" | "none";

/** The tax part of a frozen document. Minor units of the document's currency; the lines and the taxable value make up the whole. */
export interface TaxPart {
  /** At most 16 characters. */
  readonly serial: string;
  readonly seller: { readonly gstin: string; readonly legal_name: string; readonly address: string };
  readonly sac: string;
  readonly place_of_supply: string;
  readonly kind: Kind;
  readonly taxable_minor: number;
  readonly lines: readonly { readonly label: string; readonly amount_minor: number }[];
  /** What the law wants said on an export. */
  readonly endorsement: string | null;
}

/** Hosting and IT infrastructure provisioning services. */
const sac = "998315";
const withoutLegislature = ["04", "26", "31", "35", "38", "97"];
const longestSerial = 16;
const indiaMs = 5.5 * 3_600_000;

/**
 * The tax in a price that includes it. We know no address, only the currency: rupees are a sale in India, to a consumer
 * whose place of supply is then the seller's own state (IGST Act 12(2)(b)(ii)); anything else is an export, without tax
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

/** The same supply, less: what lies between the tax of all that was credited before and of that with this one. */
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

/** In whole minor units: `round(total / 1.18)` is taxable, the rest is tax; of two halves the second has the odd one. */
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

/** The year that a tax year starts in: April to March, in Indian time, whatever zone the server is in. */
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
 * The next number of a series. Its row stays locked until the transaction ends, so that numbers are used in order and one
 * that is rolled back is the next one's. Test payments count in a series of their own.
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
