import * as z from "zod";
import { DialectError } from "./dialect-error.ts";

/** Ids are looked up as they come, and PostgreSQL takes no NUL. */
export const dialectIdText = z.string().regex(/^\w{0,64}$/, "The id provided does not exist");

/** Parses what a caller sent; the refusal names the first field that does not fit. */
export function read<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new DialectError(`${issue?.path.join(".") ?? "body"}: ${issue?.message ?? "is not valid"}`);
}
