import * as z from "zod";
import { DialectError } from "./dialect-error.ts";

/** Ids are looked up as they come, and PostgreSQL takes no NUL. */
export const dialectIdText = z.string().regex(/^\w{0,64}$/, "The id provided does not exist");

/** As far as PostgreSQL and a Date both go. */
const unixSeconds = z.coerce.number().int().min(0).max(8_000_000_000_000);

/** Of every list: a window of time, and a page of it. */
export const listed = z.object({
  from: unixSeconds.optional(),
  to: unixSeconds.optional(),
  count: z.coerce.number().int().min(1).max(100).default(10),
  skip: z.coerce.number().int().min(0).default(0),
});

/** Parses what a caller sent; the refusal names the first field that does not fit. */
export function read<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new DialectError(`${issue?.path.join(".") ?? "body"}: ${issue?.message ?? "is not valid"}`);
}
