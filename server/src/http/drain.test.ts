import { expect, test } from "vitest";
import { testApp } from "../testing/test-app.ts";
import { drain } from "./drain.ts";

test("a server that was told to stop is not ready, answers new connections until that is noticed, and keeps none (G179)", async () => {
  const { app, url } = await testApp();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const noticed = Promise.withResolvers<void>();
  const drained = drain(app.server, { others: () => 0, noticed: noticed.promise });
  const [ready, alive, page] = [
    await fetch(`${url}/readyz`),
    await fetch(`${url}/healthz`),
    await fetch(`${url}/config`),
  ];
  expect([ready, alive, page].map(({ status }) => status)).toEqual([503, 200, 200]);
  expect([ready, alive, page].map(({ headers }) => headers.get("connection"))).toEqual(["close", "close", "close"]);
  noticed.resolve();
  await drained;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
});
