import { literal, object, string } from "zod/mini";
import { typed } from "../wire.ts";

/** The longest reason that the audit takes. */
export const longestReason = 1000;

/** Why an operator acts; the server refuses an empty one (G145). */
export const reason = typed(longestReason);

/** Reply of an act: what was done, in one sentence. */
export const done = object({ status: literal("success"), message: string() });
