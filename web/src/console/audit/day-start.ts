/** The first instant of a typed day in the viewer's zone; undefined for none, and for what is no day. */
export function dayStart(day: string): string | undefined {
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(day) ? `${day}T00:00` : Number.NaN);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
