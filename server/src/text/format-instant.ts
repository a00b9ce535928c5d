/** "Nov 20, 2026, 2:52 PM": en-US (G67), in UTC, because a document or a mail has no viewer. */
export function formatInstant(at: Date): string {
  return at.toLocaleString("en-US", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
}
