import { once } from "node:events";
import { connect } from "node:net";
import { Writable } from "node:stream";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { handleErrors } from "../http/handle-errors.ts";
import { parseBodies } from "../http/parse-bodies.ts";
import { identityRoutes } from "../identity/local/identity-routes.ts";
import { testInstallation } from "../identity/testing/test-installation.ts";

const { db, start } = await testInstallation();

/** A server whose log is kept, and what becomes of a request that somebody breaks off. */
async function setup() {
  const lines: string[] = [];
  const stream = new Writable({
    write(line, _, done) {
      lines.push(String(line));
      done();
    },
  });
  const app = Fastify({ logger: { level: "warn", stream } });
  parseBodies(app);
  handleErrors(app);
  app.post("/anything", async () => ({}));
  app.post("/broken", async () => {
    throw new Error("something of ours");
  });
  identityRoutes(app, { db, identity: start(), contact: "hello@berth.example" });
  const { promise, resolve } = Promise.withResolvers<void>();
  app.addHook("onError", async () => resolve());
  const url = new URL(await app.listen({ port: 0, host: "127.0.0.1" }));
  onTestFinished(() => app.close());
  return {
    app,
    lines,
    async breakOff(path: string) {
      const socket = connect(Number(url.port), url.hostname);
      await once(socket, "connect");
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
      const begun = once(app.server, "request");
      socket.write(`${head}{"email":`);
      await begun;
      socket.resetAndDestroy();
      await promise;
    },
  };
}

test.each(["/anything", "/identity/v1/accounts:signInWithPassword"])(
  "a body that its sender breaks off at %s is no outage of the database, and nothing to log",
  async (path) => {
    const { app, lines, breakOff } = await setup();
    await breakOff(path);
    await app.inject({ method: "POST", url: "/broken", payload: {} });
    expect(lines.map((line) => JSON.parse(line).err?.message)).toEqual(["something of ours"]);
  },
);
