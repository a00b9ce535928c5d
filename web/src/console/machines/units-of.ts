import type { OperatedHost } from "@berth/contract/console/machines";

/** What these hosts have to rent: "GPUs", or "Slots" where none has a GPU (G307). */
export function unitsOf(hosts: readonly Pick<OperatedHost, "unit">[]): "GPUs" | "Slots" | "GPUs and slots" {
  const units = new Set(hosts.map(({ unit }) => unit));
  if (units.size === 2) return "GPUs and slots";
  return units.has("cpu") ? "Slots" : "GPUs";
}
