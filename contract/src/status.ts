import { array, enum as choice, type infer as Infer, literal, nullable, number, object, pick } from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { launchStages } from "./lifecycle.ts";
import { capacity } from "./product.ts";
import { instant, nothing } from "./wire.ts";

/** How many days of launches the published figures cover (G38). */
export const measuredDays = 30;

/** Half of all launches took at most `p50_ms` after the payment, 95 of 100 at most `p95_ms`. */
const quantiles = { p50_ms: number(), p95_ms: number() };

const launchFigures = object({
  count: number(),
  ...quantiles,
  /** When each stage was over, in milliseconds after the payment. */
  stages: array(object({ stage: choice(launchStages), ...quantiles })),
});
export type LaunchFigures = Infer<typeof launchFigures>;

export const productStatus = endpoint({
  method: "GET",
  path: "/status",
  auth: "none",
  summary: "What is measured and published: launch times, what is free, since when it runs (G38)",
  body: nothing,
  reply: object({
    status: literal("success"),
    /** The first start of this installation. */
    since: instant,
    days: number(),
    /** Environments that were started for their order; null until one was. */
    cold: nullable(launchFigures),
    /** Environments that stood ready before their order; null while none are kept so. */
    warm: nullable(launchFigures),
    capacity: pick(capacity.reply, { kind: true, total: true, free: true, counts: true }),
  }),
  errors: [],
});
export type ProductStatus = Infer<(typeof productStatus)["reply"]>;
