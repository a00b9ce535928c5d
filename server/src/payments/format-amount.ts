/** "$2.40", "₹212": minor units as a buyer reads them (look/README.md 7). */
export function formatAmount(amountMinor: number, currency: string): string {
  const digits = currency === "INR" && amountMinor % 100 === 0 ? 0 : 2;
  const format = new Intl.NumberFormat("en-US", { style: "currency", currency, minimumFractionDigits: digits });
  return format.format(amountMinor / 100);
}
