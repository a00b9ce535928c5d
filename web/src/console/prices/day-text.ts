/** "Jan 31, 2027" of the catalogue's "2027-01-31": a day in UTC, in any zone. */
export function dayText(day: string): string {
  const shape = { month: "short", day: "numeric", year: "numeric", timeZone: "UTC" } as const;
  return new Date(`${day}T00:00:00Z`).toLocaleDateString("en-US", shape);
}
