import type { Change } from "@berth/contract";

const kinds: readonly unknown[] = [
  "environment",
  "order",
  "notification",
  "home",
  "queue",
] satisfies readonly Change["kind"][];

/** The change in an event's data, or undefined: a newer server may send kinds that this page does not know. */
export function changeOf(data: string): Change | undefined {
  try {
    const { kind, id } = JSON.parse(data || "{}") as Partial<Record<string, unknown>>;
    if (!kinds.includes(kind)) return undefined;
    return { kind: kind as Change["kind"], id: typeof id === "string" ? id : null };
  } catch {
    return undefined;
  }
}
