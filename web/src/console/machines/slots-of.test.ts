import type { OperatedGpu } from "@berth/contract/console/machines";
import { expect, test } from "vitest";
import { slotOf } from "./slots-of.ts";

const at = "2026-11-20T14:52:00.000Z";
const gpu: OperatedGpu = {
  ...{ id: "local-1", host_id: "local", model: "RTX 4070", holder: null, lease: null },
  ...{ quarantined_at: null, quarantine_reason: "", withheld_reason: "" },
};
const open = { drained_at: null, away_since: null, lost_at: null };
const environment = { kind: "environment", id: "e1", name: "thesis-run" } as const;

test.each([
  ["free", gpu, open, "local-1: free", undefined],
  ["leased", { ...gpu, lease: environment }, open, "local-1: leased, thesis-run", "/environments/e1"],
  [
    "leased",
    { ...gpu, lease: environment },
    { ...open, drained_at: at },
    "local-1: leased, thesis-run",
    "/environments/e1",
  ],
  ["held", { ...gpu, lease: { kind: "order", id: "o1", name: "" } }, open, "local-1: held, for an order", "/orders/o1"],
  [
    "held",
    { ...gpu, lease: { kind: "queue", id: "q", name: "" } },
    open,
    "local-1: held, for the next in the queue",
    undefined,
  ],
  ["draining", gpu, { ...open, drained_at: at }, "local-1: free, but draining", undefined],
  [
    "faulty",
    { ...gpu, lease: environment, quarantined_at: at, quarantine_reason: "The fan is loud" },
    open,
    "local-1: faulty, still leased, thesis-run, The fan is loud",
    "/environments/e1",
  ],
  ["faulty", gpu, { ...open, away_since: at }, "local-1: faulty, its host does not answer", undefined],
  ["withheld", { ...gpu, quarantined_at: at }, open, "local-1: not offered", undefined],
] as const)("a cell is %s", (state, given, host, label, to) => {
  expect(slotOf(given, host)).toEqual({ id: "local-1", state, label, ...(to && { to }) });
});
