import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { handleErrors } from "../../http/handle-errors.ts";
import type { Identity } from "../identity.ts";
import { secondFactorRoutes } from "../second-factor-routes.ts";

const password = "good password 1";

test("a hosted provider keeps the factor: each call says so in one sentence", async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  handleErrors(app);
  app.addHook("preParsing", async (request) => {
    request.user = { id: "u1", email: "ada@uni.example", emailVerified: true, name: "", sessionId: null };
  });
  const deps = { db: undefined as never, brandName: "Berth", mode: "optional" as const };
  secondFactorRoutes(app, { ...deps, identity: { secondFactors: null } as Identity });
  const path = "/settings/u1/second-factor";
  const body = { password, code: "123456" };
  for (const [method, url] of [
    ...([
      ["GET", path],
      ["POST", path],
      ["DELETE", path],
    ] as const),
    ...([
      ["POST", `${path}/confirm`],
      ["POST", `${path}/recovery-codes`],
    ] as const),
  ]) {
    const reply = await app.inject({ method, url, ...(method !== "GET" && { payload: body }) });
    expect([reply.statusCode, reply.json().message]).toEqual([
      409,
      expect.stringMatching(/^Accounts here are Firebase's/),
    ]);
  }
});
