import * as z from "zod";
import { DialectError } from "./dialect-error.ts";

/** Ids are used in queries, and PostgreSQL refuses NUL characters. */
export const dialectIdText = z.string().regex(/^\w{0,64}$/, "The id provided does not exist");

/** The range that both PostgreSQL and Date support. */
const unixSeconds = z.coerce.number().int().min(0).max(8_000_000_000_000);

/** Query of every list: time window and paging. */
export const listed = z.object({
  from: unixSeconds.optional(),
  to: unixSeconds.optional(),
  count: z.coerce.number().int().min(1).max(100).default(10),
  skip: z.coerce.number().int().min(0).default(0),
});

/** Integers; forms send them as text. */
export const minorUnits = z.union([
  z.int(),
  z
    .string()
    .regex(/^\d{1,12}$/)
    .transform(Number),
]);

/** At most 15 pairs; numbers become text, and an empty list is accepted because some languages encode an empty map so. */
export const notes = z
  .union([
    z.tuple([]).transform((): Record<string, string> => ({})),
    z.record(z.string(), z.union([z.string().max(256), z.number().transform(String)])),
  ])
  .refine((pairs) => Object.keys(pairs).length <= 15, "at most 15 pairs")
  .default({});

/** Parses a request. Throws `DialectError` with the first invalid field. */
export function readInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".") || null;
  throw new DialectError(`${field ?? "body"}: ${issue?.message ?? "is not valid"}`, { field });
}
