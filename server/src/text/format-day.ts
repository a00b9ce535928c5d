/** "January 31, 2027" of "2027-01-31", as the pages write days (G67). */
export function formatDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleString("en-US", { dateStyle: "long", timeZone: "UTC" });
}
