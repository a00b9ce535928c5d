import { array, enum as choice, type infer as Infer, literal, nullable, number, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing } from "../wire.ts";

export const sampleSpans = ["1h", "24h", "7d"] as const;
export type SampleSpan = (typeof sampleSpans)[number];

/** Averages over a step that begins at `at`. */
export const measured = {
  at: instant,
  /** CPU usage in cores. */
  cpu_cores: number(),
  /** 10^6 bytes. */
  memory_mb: number(),
  home_mb: number(),
  /** Null if the machine cannot measure traffic per environment. */
  received_bytes_per_second: nullable(number()),
  sent_bytes_per_second: nullable(number()),
};

export const samplePoint = object({
  ...measured,
  /** Empty without a GPU (G33). */
  gpus: array(object({ id: string(), use_percent: number(), memory_mb: number() })),
});
export type SamplePoint = Infer<typeof samplePoint>;

export const environmentSamples = endpoint({
  method: "GET",
  path: "/environments/{id}/samples",
  auth: "bearer",
  summary: "Measured resource usage of an environment, at most 288 points; empty without data (G33)",
  query: { span: sampleSpans },
  body: nothing,
  reply: object({
    status: literal("success"),
    span: choice(sampleSpans),
    step_seconds: number(),
    points: array(samplePoint),
  }),
  errors: ["not_found"],
});
