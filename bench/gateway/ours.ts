// Our gateway with a real database, sign-in and cookies. Arguments: data folder, upstream port. Prints one line of JSON.
import { randomBytes } from "node:crypto";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { openChanges } from "../../server/src/database/changes.ts";
import { openDatabase } from "../../server/src/database/database.ts";
import { startEmbedded } from "../../server/src/database/embedded/embedded.ts";
import { createGateway, serverOptions } from "../../server/src/gateway/gateway.ts";
import { insertCode, insertEnvironment, type Row } from "../../server/src/gateway/testing/insert-environment.ts";
import { commandLogger } from "../../server/src/logging/create-logger.ts";

const [directory = "", upstreamPort = ""] = process.argv.slice(2);
const embedded = await startEmbedded({ directory, fsync: false, log: commandLogger });
const database = await openDatabase(embedded.connection, commandLogger);
const { db } = database;
await db.insertInto("hosts").values({ id: "local", kind: "fake" }).execute();
const fields = { port: Number(upstreamPort), expires_at: new Date(Date.now() + 3_600_000) };
const environments = await Promise.all(Array.from({ length: 10 }, () => insertEnvironment(db, fields)));

const server = createServer(serverOptions).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const { port } = server.address() as AddressInfo;
const gateway = await createGateway({
  db,
  changes: await openChanges(database),
  appUrl: `http://localhost:${port}`,
  envHost: "localhost",
  secret: randomBytes(32),
  trustProxy: () => false,
  limits: { perEnvironment: 5000, perAddress: 5000 },
  log: commandLogger,
});
server.on("request", gateway.onRequest).on("upgrade", gateway.onUpgrade).on("clientError", gateway.onClientError);

const hostOf = ({ subdomain }: Row) => `${subdomain}.localhost:${port}`;
const visits = await Promise.all(environments.map(async (each) => [hostOf(each), await signIn(each)] as const));
console.log(JSON.stringify({ port, visits }));

process.on("SIGTERM", async () => {
  await gateway.close();
  await database.close();
  await embedded.stop();
  process.exit(0);
});

/** Returns the cookie. */
async function signIn(environment: Row): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
  const path = `/_berth/sign-in?code=${await insertCode(db, environment, null)}&cleared=1`;
  httpRequest({ port, path, headers: { host: hostOf(environment) } }, resolve).end();
  return (await promise).headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}
