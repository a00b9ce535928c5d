import {
  array,
  boolean,
  enum as choice,
  type infer as Infer,
  literal,
  nullable,
  number,
  object,
  optional,
  string,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing, typed } from "../wire.ts";
import { done, reason } from "./reason.ts";

/** A version of the prices, in minor units. */
const priceVersion = object({
  /** 00:00 UTC of this day. */
  from: string(),
  state: choice(["past", "in_force", "coming"]),
  rows: array(
    object({
      gpus: number(),
      hourly_cents: number(),
      hourly_label: string(),
      /** Null: no monthly plan. */
      monthly_cents: nullable(number()),
      monthly_label: string(),
    }),
  ),
  hours: array(number()),
  currencies: array(object({ code: string(), rate_per_dollar: number(), round_minor: number() })),
});
export type OperatedPrices = Infer<typeof priceVersion>;

const soldType = object({
  id: string(),
  name: string(),
  recipe: string(),
  /** Where its image or runtime is prepared. */
  images: array(
    object({
      host_id: string(),
      state: choice(["ready", "preparing", "unavailable"]),
      percent: nullable(number()),
      message: string(),
      /** Whether `prepareType` prepares it; otherwise the message says what to type. */
      can_prepare: boolean(),
    }),
  ),
});
export type SoldType = Infer<typeof soldType>;

const operatedCatalogue = object({
  status: literal("success"),
  /** The file of CATALOGUE; null for the built-in catalogue. */
  file: nullable(string()),
  /** What an operator types to change it. */
  commands: array(string()),
  types: array(soldType),
  prices: array(priceVersion),
  /** Announced changes of the terms, oldest first. */
  terms: array(object({ from: string(), summary: string() })),
  /** What every account was told of raises and changes, newest first. */
  announced: array(
    object({
      title: string(),
      body: string(),
      created_at: instant,
      /** Whether every account has its notice. */
      done: boolean(),
    }),
  ),
  limits: object({ gpus: optional(number()), launches: optional(number()) }),
  /** What pages name: the GPUs that the hosts report, else those of the catalogue. */
  gpus: array(object({ model: string(), memory_gb: number() })),
});
export type OperatedCatalogue = Infer<typeof operatedCatalogue>;

export const readCatalogue = endpoint({
  method: "GET",
  path: "/operator/api/catalogue",
  auth: "operator",
  summary: "What is sold, for how much, from which day, and where it is prepared",
  body: nothing,
  reply: operatedCatalogue,
  errors: [],
});

export const prepareType = endpoint({
  method: "POST",
  path: "/operator/api/catalogue/types/{id}/prepare",
  auth: "operator",
  summary: "Prepare a type on a host that does not prepare it by itself",
  body: object({ host: typed(64), reason }),
  reply: done,
  errors: ["action_not_allowed"],
});
