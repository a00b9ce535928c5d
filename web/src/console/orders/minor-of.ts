/** Minor units of a typed amount such as "2.40"; undefined for what is none. Every currency has hundredths. */
export function minorOf(typed: string): number | undefined {
  const [, units = "", hundredths = ""] = /^(\d{1,9})(?:[.,](\d{1,2}))?$/.exec(typed.trim()) ?? [];
  return units === "" ? undefined : Number(units) * 100 + Number(hundredths.padEnd(2, "0"));
}
