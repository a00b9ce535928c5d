import type { FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";

/** An unescaped \u0000. Matched in the text, because walking a deeply nested body could overflow the stack. */
const escapedNul = /(?<!\\)(?:\\\\)*\\u0000/;

/** Accepts JSON only. An empty or missing body is undefined; NUL is refused, because PostgreSQL's text cannot contain it. */
export function parseBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  // A parser waits for ever for the end of a body that never was: the request has ended before, while hooks ran.
  app.addHook("onRequest", async ({ raw: { headers } }) => {
    const { "content-length": length = "0", "transfer-encoding": encoding } = headers;
    if (length === "0" && encoding === undefined) delete headers["content-type"];
  });
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, text: string, done) => {
    if (text === "") return done(null, undefined);
    parse(request, text, (error, value) => {
      if (!error && escapedNul.test(text)) {
        return done(new AppError("invalid_request", "A text in the body contains a NUL character"), undefined);
      }
      done(error, value);
    });
  });
}
