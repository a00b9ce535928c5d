import type { Change } from "@berth/contract";

const kinds: readonly unknown[] = [
  "environment",
  "order",
  "notification",
  "home",
  "queue",
] satisfies readonly Change["kind"][];

/** The change in an event's data; undefined for the unknown kinds of a newer server. */
export function changeOf(data: string): Change | undefined {
  try {
    const { kind, id } = JSON.parse(data || "{}") as Partial<Record<string, unknown>>;
    if (!kinds.includes(kind)) return undefined;
    return { kind: kind as Change["kind"], id: typeof id === "string" ? id : null };
  } catch {
    return undefined;
  }
}
