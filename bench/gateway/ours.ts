// Our gateway as it runs: real database, real sign-in, real cookie. Arguments: folder, port of the upstream. Prints one line of JSON.
import { createHash, randomBytes } from "node:crypto";
import { createServer, request as httpRequest } from "node:http";
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
await db
  .insertInto("orders")
  .values({
    id: "o",
    user_id: "owner",
    status: "expired",
    container_type: "jupyter",
    subdomain: "bench",
    gpu_count: 1,
    duration_hours: 1,
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
    id: "e",
    order_id: "o",
    user_id: "owner",
    container_type: "jupyter",
    subdomain: "bench",
    gpu_count: 1,
    duration_hours: 1,
    host_id: "local",
    home: "bench",
    status: "active",
    secret: "secret",
    run_token: "run",
    endpoint: JSON.stringify({ host: "127.0.0.1", port: Number(upstreamPort) }),
    give_up_at: soon,
    expires_at: soon,
  })
  .execute();
const code = randomBytes(32).toString("base64url");
const hash = createHash("sha256").update(code).digest();
await db
  .insertInto("sign_in_codes")
  .values({ hash, user_id: "owner", environment_id: "e", auth_session: null, expires_at: soon })
  .execute();

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

const host = `bench.localhost:${port}`;
httpRequest({ port, path: `/_berth/sign-in?code=${code}&cleared=1`, headers: { host } }, (response) => {
  console.log(JSON.stringify({ port, host, cookie: response.headers["set-cookie"]?.[0]?.split(";")[0] }));
}).end();

process.on("SIGTERM", async () => {
  await gateway.close();
  await database.close();
  await embedded.stop();
  process.exit(0);
});
