import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { upstreamServer } from "../testing/setup-gateway.ts";
import { probeReadiness } from "./probe-readiness.ts";

test("ready means 200 from both /api and /lab with the run's token", async () => {
  let broken = "";
  const { port, server } = await upstreamServer((request, response) => {
    const allowed = request.headers.authorization === "token right" && request.url !== broken;
    response.writeHead(allowed ? 200 : 403).end("x".repeat(100_000));
  });
  const endpoint = { host: "127.0.0.1", port };
  expect(await probeReadiness(endpoint, "right")).toBe(true);
  expect(await probeReadiness(endpoint, "wrong")).toBe(false);
  for (broken of ["/api", "/lab"]) expect(await probeReadiness(endpoint, "right")).toBe(false);
  server.close();
  expect(await probeReadiness(endpoint, "right")).toBe(false);
});

test("an endpoint may be a Unix socket", async () => {
  const directory = mkdtempSync(join(tmpdir(), "answers-"));
  const socketPath = join(directory, "s");
  const server = createServer((_request, response) => void response.end("ok")).listen(socketPath);
  onTestFinished(() => {
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await expect.poll(() => probeReadiness({ socketPath }, "any")).toBe(true);
});
