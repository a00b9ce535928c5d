// Our gateway as it runs: real database, real sign-in, real cookie. Arguments: folder, port of the upstream. Prints one line of JSON.
import { createHash, randomBytes } from "node:crypto";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { openChanges } from "../../server/src/database/changes.ts";
import { openDatabase } from "../../server/src/database/database.ts";
import { startEmbedded } from "../../server/src/database/embedded.ts";
import { createGateway, serverOptions } from "../../server/src/gateway/gateway.ts";

const [directory = "", upstreamPort = ""] = process.argv.slice(2);
const failed = (error: unknown) => console.error(error);
const embedded = await startEmbedded({ directory, fsync: false, failed });
const database = await openDatabase(embedded.connection, failed);
const { db } = database;
const soon = new Date(Date.now() + 3_600_000);
await db.insertInto("hosts").values({ id: "local", kind: "fake" }).execute();
const names = Array.from({ length: 10 }, (_, n) => `bench-${n}`);
for (const name of names) await addEnvironment(name);

const server = createServer(serverOptions).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const { port } = server.address() as AddressInfo;
const gateway = await createGateway({
  db,
  changes: await openChanges(database),
  appUrl: `http://localhost:${port}`,
  envHost: "localhost",
  secret: randomBytes(32),
  limits: { perEnvironment: 5000, perAddress: 5000 },
  failed,
});
server.on("request", gateway.onRequest).on("upgrade", gateway.onUpgrade).on("clientError", gateway.onClientError);

const visits = await Promise.all(names.map(async (name) => [`${name}.localhost:${port}`, await signIn(name)] as const));
console.log(JSON.stringify({ port, visits }));

process.on("SIGTERM", async () => {
  await gateway.close();
  await database.close();
  await embedded.stop();
  process.exit(0);
});

async function addEnvironment(name: string): Promise<void> {
  const environment = {
    user_id: "owner",
    container_type: "jupyter" as const,
    subdomain: name,
    gpu_count: 1,
    duration_hours: 1,
  };
  await db
    .insertInto("orders")
    .values({
      ...environment,
      id: name,
      status: "expired",
      usd_minor: 20,
      amount_minor: 20,
      currency: "USD",
      inr_paise_per_usd: 8822,
      gateway: "embedded",
      mode: "embedded",
      request_hash: "",
      hold_until: soon,
      watch_until: soon,
    })
    .execute();
  await db
    .insertInto("environments")
    .values({
      ...environment,
      id: name,
      order_id: name,
      host_id: "local",
      home: name,
      status: "active",
      secret: "secret",
      run_token: "run",
      endpoint: JSON.stringify({ host: "127.0.0.1", port: Number(upstreamPort) }),
      give_up_at: soon,
      expires_at: soon,
    })
    .execute();
}

/** Answers the cookie. */
async function signIn(name: string): Promise<string> {
  const code = randomBytes(32).toString("base64url");
  const hash = createHash("sha256").update(code).digest();
  await db
    .insertInto("sign_in_codes")
    .values({ hash, user_id: "owner", environment_id: name, auth_session: null, expires_at: soon })
    .execute();
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
  const path = `/_berth/sign-in?code=${code}&cleared=1`;
  httpRequest({ port, path, headers: { host: `${name}.localhost:${port}` } }, resolve).end();
  return (await promise).headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}
