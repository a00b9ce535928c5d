import Fastify from "fastify";
import { expect, test } from "vitest";
import { noSchemas } from "./no-schemas.ts";

test.each([{ body: { type: "object" } }, { response: { 200: { type: "object" } } }])(
  "a route with a JSON schema ends the start instead of being served unchecked",
  async (schema) => {
    const app = Fastify({ schemaController: noSchemas });
    app.post("/", { schema }, async () => ({}));
    await expect(app.ready()).rejects.toThrow("describe what it takes in the contract");
  },
);
