import { maxLength, minLength, object, string, trim } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { success } from "../wire.ts";

/** Characters of a search of the documentation. */
export const maxSearchText = 64;

export const countSearch = endpoint({
  method: "POST",
  path: "/support/searches",
  auth: "none",
  summary: "Count words that a search of the documentation did not find (G345)",
  body: object({ words: string().check(trim(), minLength(1), maxLength(maxSearchText)) }),
  reply: success,
  errors: [],
});
