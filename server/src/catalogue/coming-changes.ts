import { createHash } from "node:crypto";
import { comingPrices, type Prices, plural, priceRaises, pricesAt, type ShownCatalogue } from "@berth/contract";
import type { NoticeCause } from "../mail/mail-flag.ts";
import { formatAmount } from "../payments/ledger/format-amount.ts";
import { formatDay } from "../text/format-day.ts";

/** What one notice says; the same words have the same id. */
export interface CatalogueChange {
  readonly id: NoticeCause;
  readonly title: string;
  readonly body: string;
  /** A path of the app. */
  readonly link: string;
}

/** Raises of prices and changes of the terms that have not begun, each as a notice. */
export function comingChanges(catalogue: ShownCatalogue, now: Date): CatalogueChange[] {
  const today = now.toISOString().slice(0, 10);
  const coming = comingPrices(catalogue, now);
  const versions = [pricesAt(catalogue, now), ...coming];
  const prices = coming.flatMap((after, index) => raiseNotice(versions[index] ?? after, after));
  const terms = (catalogue.terms ?? []).filter(({ from }) => from > today).map(termsNotice);
  return [...prices, ...terms];
}

function raiseNotice(before: Prices, after: Prices): CatalogueChange[] {
  if (priceRaises(before, after).length === 0) return [];
  const changes = [...changedRows(before, after), ...changedRates(before, after)].join("; ");
  const day = formatDay(after.from);
  const body = `From ${day}, 00:00 UTC: ${changes}. What you order before then keeps its price, and nothing that you have paid for changes.`;
  return [noticeOf("prices", after.from, { title: `Prices change on ${day}`, body, link: "/billing" })];
}

/** "2 GPUs $0.50 an hour (now $0.40), $300 a month (now $280)". */
function changedRows(before: Prices, after: Prices): string[] {
  return after.rows.flatMap(({ gpus, hourlyCents, monthlyCents }) => {
    const old = before.rows.find((row) => row.gpus === gpus);
    const parts = [
      changed(old?.hourlyCents ?? null, hourlyCents, "an hour"),
      changed(old?.monthlyCents ?? null, monthlyCents, "a month"),
    ].filter((part) => part !== "");
    return parts.length === 0 ? [] : [`${plural(gpus, "GPU")} ${parts.join(", ")}`];
  });
}

function changed(before: number | null, after: number | null, per: string): string {
  if (after === null || before === after) return "";
  const now = before === null ? "" : ` (now ${formatAmount(before, "USD")})`;
  return `${formatAmount(after, "USD")} ${per}${now}`;
}

/** "a dollar is ₹92.00 (now ₹88.22)", "totals in INR are rounded to ₹10 (now ₹1)". */
function changedRates(before: Prices, after: Prices): string[] {
  return after.currencies.flatMap((terms) => {
    const { code, ratePerDollar, roundMinor } = terms;
    const old = before.currencies.find((each) => each.code === code);
    if (!old) return [];
    const amount = (minor: number) => formatAmount(minor, code);
    const rate = `a dollar is ${amount(ratePerDollar)} (now ${amount(old.ratePerDollar)})`;
    const step = `totals in ${code} are rounded to ${amount(roundMinor)} (now ${amount(old.roundMinor)})`;
    return [...(old.ratePerDollar === ratePerDollar ? [] : [rate]), ...(old.roundMinor === roundMinor ? [] : [step])];
  });
}

function termsNotice({ from, summary }: { readonly from: string; readonly summary: string }): CatalogueChange {
  const day = formatDay(from);
  const body = `From ${day}, 00:00 UTC: ${summary.replace(/[^.!?]$/, "$&.")} It applies to rentals that start after that day; what you have paid for keeps the terms it was bought under.`;
  return noticeOf("terms", from, { title: `The terms change on ${day}`, body, link: "/terms-condition" });
}

function noticeOf(
  kind: "prices" | "terms",
  from: string,
  { title, body, link }: Omit<CatalogueChange, "id">,
): CatalogueChange {
  const hash = createHash("sha256").update(body).digest("base64url").slice(0, 12);
  return { id: `${kind}:${from}:${hash}`, title, body, link };
}
