import type { FastifyInstance } from "fastify";
import { AppError } from "../errors.ts";

/** JSON only, nothing for an empty body, and never a NUL, which no text column can hold. */
export function parseBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, text: string, done) => {
    if (text === "") return done(null, undefined);
    parse(request, text, (error, value) => {
      if (!error && text.includes("\\u0000") && holdsNul(value)) {
        return done(new AppError("invalid_request", "A text in the body contains a NUL character"), undefined);
      }
      done(error, value);
    });
  });
}

function holdsNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\u0000");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, part]) => key.includes("\u0000") || holdsNul(part));
}
