import { expect, test } from "vitest";
import { setupGateway, upstreamServer } from "../gateway/testing/setup-gateway.ts";
import { createMetrics } from "./create-metrics.ts";
import { gatewayCollector } from "./gateway-collector.ts";
import { samplesOf } from "./testing/scrape.ts";

async function setup() {
  const shop = await setupGateway();
  const metrics = createMetrics();
  const collect = gatewayCollector({ metrics, gateway: shop.gateway });
  const read = async () => {
    collect();
    return samplesOf(await metrics.registry.metrics());
  };
  return { ...shop, read };
}

test("answers, refusals and sign-ins of the gateway are counted from its plain numbers", async () => {
  const { read, environment, hostOf, ask } = await setup();
  const upstream = await upstreamServer((request, response) => {
    response.statusCode = request.url === "/api/broken" ? 500 : 200;
    response.end("{}");
  });
  const row = await environment({ port: upstream.port });
  const headers = { authorization: `token ${row.secret}` };
  await expect.poll(async () => (await ask(hostOf(row), "/api", { headers })).status).toBe(200);
  const of = async (answer: string) => (await read()).get(`berth_gateway_requests_total{answer="${answer}"}`) ?? 0;
  const before = { good: await of("2xx"), refused: await of("refused") };
  await ask(hostOf(row), "/api", { headers });
  await ask(hostOf(row), "/api/broken", { headers });
  await ask(hostOf({ subdomain: "nobody" }), "/api");
  await expect.poll(() => of("5xx")).toBe(1);
  expect(await of("2xx")).toBe(before.good + 1);
  expect(await of("refused")).toBe(before.refused + 1);
  await ask(hostOf(row), "/_berth/no-such-page");
  expect((await read()).get('berth_gateway_refusals_total{code="not_found"}')).toBeGreaterThanOrEqual(2);
  expect((await read()).get('berth_gateway_open{kind="websocket"}')).toBe(0);
});
