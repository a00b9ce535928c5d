import type { FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";

/** The escape itself, not a backslash that is escaped and followed by it. Looked for in the text, because a body can be nested deeper than the stack. */
const escapedNul = /(?<!\\)(?:\\\\)*\\u0000/;

/** JSON only, nothing for an empty body, and never a NUL, which no text column can hold. */
export function parseBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
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
