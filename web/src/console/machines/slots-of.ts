import type { OperatedGpu, OperatedHost } from "@berth/contract/console/machines";

/** In the order of the line that counts them. */
export const slotStates = ["leased", "held", "free", "draining", "faulty", "withheld"] as const;
export type SlotState = (typeof slotStates)[number];

export const slotWords: Readonly<Record<SlotState, string>> = {
  leased: "leased",
  held: "held",
  free: "free",
  draining: "free, but draining",
  faulty: "faulty",
  withheld: "not offered",
};

/** One GPU of a host, or one slot of a host without any. */
export interface Slot {
  readonly id: string;
  readonly state: SlotState;
  /** All that its cell shows, in words. */
  readonly label: string;
  /** The environment or the order that has it. */
  readonly to?: string;
}

type Place = Pick<OperatedHost, "drained_at" | "away_since" | "lost_at">;

/** What is out of service is that first, whoever has it still. */
export function slotOf(gpu: OperatedGpu, host: Place): Slot {
  const { id, lease } = gpu;
  const state = stateOf(gpu, host);
  const holder = lease === null ? undefined : holderOf(lease);
  const reason = reasonOf(gpu) || (state === "faulty" && "its host does not answer");
  const parts = [
    slotWords[state],
    ...(holder && state === "faulty" ? [`still ${lease?.kind === "environment" ? "leased" : "held"}`] : []),
    ...(holder ? [holder.text] : []),
    ...(reason ? [reason] : []),
  ];
  return { id, state, label: `${id}: ${parts.join(", ")}`, ...(holder?.to && { to: holder.to }) };
}

function stateOf(gpu: OperatedGpu, host: Place): SlotState {
  if (gpu.quarantined_at) return reasonOf(gpu) === "" ? "withheld" : "faulty";
  if (host.lost_at || host.away_since) return "faulty";
  if (gpu.lease) return gpu.lease.kind === "environment" ? "leased" : "held";
  return host.drained_at ? "draining" : "free";
}

/** Why an operator or its host took it out of service; empty while there is only no room for it. */
export function reasonOf({ quarantine_reason, withheld_reason }: OperatedGpu): string {
  return quarantine_reason || withheld_reason;
}

/** Who has it, with the page about that. */
export function holderOf({ kind, id, name }: NonNullable<OperatedGpu["lease"]>): {
  readonly text: string;
  readonly to?: string;
} {
  if (kind === "environment") return { text: name, to: `/environments/${encodeURIComponent(id)}` };
  if (kind === "order") return { text: "for an order", to: `/orders/${encodeURIComponent(id)}` };
  return { text: "for the next in the queue" };
}
