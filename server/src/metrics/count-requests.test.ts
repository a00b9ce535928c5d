import { once } from "node:events";
import { request } from "node:http";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { countRequests } from "./count-requests.ts";
import { createMetrics } from "./create-metrics.ts";
import { samplesOf } from "./testing/scrape.ts";

async function setup() {
  const metrics = createMetrics();
  const app = Fastify({ forceCloseConnections: true });
  countRequests(app, metrics);
  app.get("/labs/:name", async (_, reply) => reply.code(404).send({}));
  app.get("/stream", (_, reply) => {
    reply.hijack();
    reply.raw.write("begun");
  });
  app.get("/never", () => new Promise(() => {}));
  await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => app.close());
  return { url: app.listeningOrigin, read: async () => samplesOf(await metrics.registry.metrics()) };
}

const requests = "berth_http_requests_total";

test("a request is counted by the template of its route, an unknown path as none", async () => {
  const { url, read } = await setup();
  for (const path of ["/labs/ada", "/labs/grace", "/nowhere/secret"]) await fetch(`${url}${path}`);
  await expect.poll(async () => (await read()).get(`${requests}{method="GET",route="none",status="4xx"}`)).toBe(1);
  const samples = await read();
  expect(samples.get(`${requests}{method="GET",route="/labs/:name",status="4xx"}`)).toBe(2);
  expect(samples.get('berth_http_request_seconds_count{route="/labs/:name"}')).toBe(2);
  expect([...samples.keys()].join()).not.toMatch(/ada|grace|secret/);
});

test("a stream is open until it ends, and counts no duration; a request without an answer is aborted", async () => {
  const { url, read } = await setup();
  const stream = request(`${url}/stream`).end();
  const [reply] = await once(stream, "response");
  expect((await read()).get('berth_http_open_requests{route="/stream"}')).toBe(1);
  reply.on("error", () => {});
  stream.destroy();
  const silent = request(`${url}/never`).end();
  silent.on("error", () => {});
  await expect.poll(async () => (await read()).get('berth_http_open_requests{route="/never"}')).toBe(1);
  silent.destroy();
  await expect
    .poll(async () => (await read()).get(`${requests}{method="GET",route="/never",status="aborted"}`))
    .toBe(1);
  await expect.poll(async () => (await read()).get('berth_http_open_requests{route="/stream"}')).toBe(0);
  const samples = await read();
  expect(samples.get(`${requests}{method="GET",route="/stream",status="2xx"}`)).toBe(1);
  expect(samples.has('berth_http_request_seconds_count{route="/stream"}')).toBe(false);
});
