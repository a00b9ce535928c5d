/** Formats minor units as "$2.40", "₹212" or "₹1,05,864", the same in mails, receipts and screens. */
export function formatAmount(amountMinor: number, currency: string): string {
  const digits = currency === "INR" && amountMinor % 100 === 0 ? 0 : 2;
  const locale = currency === "INR" ? "en-IN" : "en-US";
  const format = new Intl.NumberFormat(locale, { style: "currency", currency, minimumFractionDigits: digits });
  return format.format(amountMinor / 100);
}
