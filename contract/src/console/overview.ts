import { array, boolean, type infer as Infer, literal, nullable, number, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing, success } from "../wire.ts";

const count = number();
/** Amounts are of one currency each, in minor units. */
const amount = object({ currency: string(), paid_minor: number(), refunded_minor: number() });

const overview = object({
  status: literal("success"),
  doctor: object({
    /** Null before the first run ends. */
    checked_at: nullable(instant),
    running: boolean(),
    notes: array(string()),
    /** Checks that found something. */
    findings: array(object({ what: string(), remedy: string(), rows: array(string()) })),
  }),
  /** What waits for a person or for the bank. */
  waiting: object({
    refund_requests: count,
    disputes: count,
    /** Open ones. */
    tickets: count,
    /** Findings of the mining detector. */
    mining: count,
    refunds: array(object({ currency: string(), count, minor: number() })),
  }),
  hosts: object({ open: count, closed: count }),
  gpus: object({ total: count, free: count, leased: count, quarantined: count }),
  environments: object({ active: count, pending: count }),
  queue: object({ waiting: count, since: nullable(instant) }),
  /** Launches of the last 24 hours. */
  launches: object({ count, p50_ms: nullable(number()), p95_ms: nullable(number()) }),
  /** Of this day in UTC. */
  revenue: object({ since: instant, amounts: array(amount) }),
});
export type Overview = Infer<typeof overview>;

export const readOverview = endpoint({
  method: "GET",
  path: "/operator/api/now",
  auth: "operator",
  summary: "What an operator looks at in the morning",
  body: nothing,
  reply: overview,
  errors: [],
});

export const checkAgain = endpoint({
  method: "POST",
  path: "/operator/api/now/check",
  auth: "operator",
  summary: "Run every check of the doctor again, in the background",
  body: nothing,
  reply: success,
  errors: [],
});
