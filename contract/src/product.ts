import {
  array,
  boolean,
  enum as choice,
  type infer as Infer,
  literal,
  nullable,
  number,
  object,
  record,
  string,
} from "zod/mini";
import { catalogueShape } from "./catalogue/catalogue.ts";
import { endpoint } from "./endpoint.ts";
import { identityConfig } from "./identity/auth.ts";
import { supportSettings } from "./support/support.ts";
import { containerType, currency, instant, nothing } from "./wire.ts";

const gpuModel = object({ model: string(), memoryGb: number() });

export const productConfig = endpoint({
  method: "GET",
  path: "/config",
  auth: "none",
  summary: "Public settings of the browser app",
  body: nothing,
  reply: object({
    /** Version of the server; lets an open page detect an upgrade. */
    version: string(),
    brand: object({ name: string(), email: string(), supportName: string() }),
    /** URL template of an environment with the placeholder `{subdomain}`. */
    environmentUrl: string(),
    identity: identityConfig,
    payments: object({
      mode: choice(["embedded", "test", "live"]),
      scriptUrl: string(),
      currencies: array(currency),
      /** Smallest charge, minor units (G73). */
      minimumMinor: record(string(), number()),
    }),
    beta: object({ endsAt: instant }),
    /** The first of `gpus`. */
    gpu: gpuModel,
    /** GPUs of the hosts, else of the catalogue (G37). */
    gpus: array(gpuModel),
    catalogue: catalogueShape,
    retentionDays: number(),
    support: supportSettings,
  }),
  errors: [],
});
export type ProductConfig = Infer<(typeof productConfig)["reply"]>;

export const capacity = endpoint({
  method: "GET",
  path: "/capacity",
  auth: "none",
  summary: "Free capacity, and when more becomes free (G35, G86)",
  body: nothing,
  reply: object({
    status: literal("success"),
    /** `cpu`: slots on machines without a GPU (G37, G89). */
    kind: choice(["gpu", "cpu"]),
    /** Of the largest host, because an environment runs on one host (G39). */
    total: number(),
    free: number(),
    counts: array(object({ gpu_count: number(), free: boolean(), next_free_at: nullable(instant) })),
    types: array(
      object({
        type: containerType,
        state: choice(["ready", "preparing", "unavailable"]),
        percent: nullable(number()),
        message: string(),
      }),
    ),
    /** Time from paid to ready over the last 30 days; null before the first launch (G38). */
    launch: nullable(object({ p50_ms: number(), p95_ms: number(), count: number() })),
  }),
  errors: [],
});
export type Capacity = Infer<(typeof capacity)["reply"]>;

export const subdomainCheck = endpoint({
  method: "GET",
  path: "/subdomains/{name}",
  auth: "bearer",
  summary: "Checks whether a subdomain is available to the signed-in user (G36, G86)",
  body: nothing,
  reply: object({
    status: literal("success"),
    available: boolean(),
    /** Why it is not available, or a note ("Your files of this name come back"). */
    message: string(),
    suggestion: nullable(string()),
  }),
  errors: [],
});
