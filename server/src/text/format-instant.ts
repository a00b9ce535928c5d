/** "Nov 20, 2026, 2:52 PM": en-US (G67), in UTC, because documents and mails have no viewer's time zone. */
export function formatInstant(at: Date): string {
  return at.toLocaleString("en-US", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
}
