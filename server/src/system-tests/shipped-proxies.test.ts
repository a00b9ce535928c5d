import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as requestPlain } from "node:http";
import { request } from "node:https";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "../testing/free-port.ts";
import { hasProxy, type ProxyName, proxyCommand } from "../testing/proxy-command.ts";
import { runProxy } from "../testing/run-proxy.ts";
import { dataFolder, start } from "../testing/server-process.ts";
import { type Ask, app, ask, environments, makeCertificate, options, rent, upgrade } from "./testing/behind-proxy.ts";

const proxies: readonly ProxyName[] = ["nginx", "Caddy"];

describe.each(proxies)("behind %s with the shipped file", (name) => {
  const isHere = hasProxy(name);
  const reason = isHere ? "" : ` (skipped: there is no ${name} here)`;

  test.skipIf(!isHere)(
    `a rental is whole: TLS, wildcard, sockets, streams, uploads, addresses${reason}`,
    async () => {
      const [port, httpPort, serverPort] = [await freePort(), await freePort(), await freePort()];
      const server = start({
        ...{ APP_URL: `https://${app}:${port}`, ENV_HOST: environments, TRUST_PROXY: "127.0.0.1" },
        ...{ PAYMENTS: "embedded", DATA_DIR: dataFolder(), PORT: String(serverPort), UNAUTHENTICATED_PER_MINUTE: "5" },
      });
      await server.url();
      const folder = dataFolder();
      makeCertificate(folder);
      const place = { folder, port, httpPort, appPorts: [serverPort], environmentPorts: [serverPort] };
      await runProxy(proxyCommand(name, place), port);
      const world = { ask: (path: string, wanted: Ask) => ask(port, path, wanted) };
      const { host, secret } = await rent(world, "whole");

      expect(await world.ask("/lab", { host, headers: { authorization: secret } })).toMatchObject({ status: 200 });
      expect(await upgrade(port, host, secret, "127.0.0.2"), "a WebSocket").toBe(101);
      expect(await firstOf(port, host, secret), "a stream that has not ended").toContain("data: 1");
      const body = { content: "x".repeat(3_000_000) };
      const file = { host, method: "PUT", headers: { authorization: secret }, body };
      expect(await world.ask("/api/contents/large.txt", file), "an upload").toMatchObject({ status: 201 });
      expect(await redirectOf(httpPort)).toMatch(/^308 https:\/\/whole\.berth-run\.example(:\d+)?\/lab\?x=1$/);

      const guess = (from: string, forged: string) => {
        const headers = { authorization: "Bearer wrong", "x-forwarded-for": forged };
        return world.ask("/auth/validate", { host: app, from, headers });
      };
      const guesses: (number | undefined)[] = [];
      for (let n = 1; n <= 7; n++) guesses.push((await guess("127.0.0.4", `203.0.113.${n}`)).status);
      expect(guesses, "a forged address is not another client").toEqual([...Array(5).fill(401), 429, 429]);
      expect((await guess("127.0.0.5", "127.0.0.4")).status, "another client is").toBe(401);
    },
    180_000,
  );
});

/** The first bytes of an answer that goes on. */
async function firstOf(port: number, host: string, authorization: string): Promise<string> {
  const sent = request(options(port, "/stream", { host }, { authorization }));
  onTestFinished(() => void sent.destroy());
  sent.on("error", () => {});
  const answered = once(sent, "response");
  sent.end();
  const [response] = (await answered) as [IncomingMessage];
  const [chunk] = await once(response.setEncoding("utf8"), "data");
  return chunk;
}

/** Status and location for a page of an environment over plain http. */
async function redirectOf(port: number): Promise<string> {
  const headers = { host: `whole.${environments}` };
  const sent = requestPlain({ host: "127.0.0.1", port, path: "/lab?x=1", headers, agent: false });
  const answered = once(sent, "response");
  sent.end();
  const [response] = (await answered) as [IncomingMessage];
  response.resume();
  return `${response.statusCode} ${response.headers.location}`;
}
