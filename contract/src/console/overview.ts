import {
  array,
  boolean,
  enum as choice,
  type infer as Infer,
  literal,
  nullable,
  number,
  object,
  string,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing, success } from "../wire.ts";

const count = number();
/** Amounts are of one currency each, in minor units. */
const amount = object({ currency: string(), paid_minor: number(), refunded_minor: number() });

/** Half an hour from `at`. */
const step = object({
  at: instant,
  /** GPUs or slots that environments had at its end. */
  rented: count,
  /** First launches. */
  launched: count,
  undelivered: count,
  /** Who found nothing free and asked to wait. */
  queued: count,
});

const latestEvent = object({
  at: instant,
  kind: choice(["act", "ready", "ended", "money"]),
  /** Of an act its code, of an end its reason, of money its kind in the ledger. */
  what: string(),
  /** What an act was about, or an environment's name. */
  name: string(),
  /** Of the act's subject, of the environment or of the order. */
  id: string(),
  /** Who acted, or the currency. */
  detail: string(),
  /** Milliseconds of a launch, or minor units. */
  amount: number(),
});
export type LatestEvent = Infer<typeof latestEvent>;

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
  gpus: object({
    ...{ total: count, free: count, leased: count, quarantined: count },
    /** CPU slots for which a machine has no room now. */
    not_offered: count,
    /** Null while one is free. */
    sold_out_since: nullable(instant),
  }),
  environments: object({ active: count, pending: count }),
  queue: object({ waiting: count, since: nullable(instant) }),
  /** Launches of the last 24 hours. */
  launches: object({ count, p50_ms: nullable(number()), p95_ms: nullable(number()) }),
  /** The last 24 hours, oldest first. */
  day: array(step),
  /** What happened last, newest first. */
  latest: array(latestEvent),
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
