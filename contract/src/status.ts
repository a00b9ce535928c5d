import { array, enum as choice, type infer as Infer, literal, nullable, number, object, pick } from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { launchStages } from "./lifecycle.ts";
import { capacity } from "./product.ts";
import { instant, nothing } from "./wire.ts";

/** Period of the published figures (G38). */
export const measuredDays = 30;

/** Median and 95th percentile of the time from payment to ready. */
const quantiles = { p50_ms: number(), p95_ms: number() };

const launchFigures = object({
  count: number(),
  ...quantiles,
  /** Completion of each stage, in milliseconds after the payment. */
  stages: array(object({ stage: choice(launchStages), ...quantiles })),
});
export type LaunchFigures = Infer<typeof launchFigures>;

export const productStatus = endpoint({
  method: "GET",
  path: "/status",
  auth: "none",
  summary: "Published measurements: launch times, free capacity, first start (G38)",
  body: nothing,
  reply: object({
    status: literal("success"),
    /** The first start of this installation. */
    since: instant,
    days: number(),
    /** Environments started for their order; null without one. */
    cold: nullable(launchFigures),
    /** Environments from the warm pool; null without one. */
    warm: nullable(launchFigures),
    capacity: pick(capacity.reply, { kind: true, total: true, free: true, counts: true }),
  }),
  errors: [],
});
export type ProductStatus = Infer<(typeof productStatus)["reply"]>;
