import Fastify from "fastify";
import { sql } from "kysely";
import type { Connection } from "../../database/connection.ts";
import { openDatabase } from "../../database/database.ts";
import { operatorPages } from "../../http/operator-pages.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { embeddedProvider, embeddedProviderPath } from "../../payments/embedded-provider/embedded-provider.ts";
import { razorpay } from "../../payments/provider/razorpay.ts";
import type { Defer } from "./defer.ts";

export const keys = { keyId: "rzp_test_faults", keySecret: "the secret of the provider" };

/** A payment provider on a port and a database of its own, that can have errors of its own, or take calls and never answer. */
export async function faultyProvider(connection: Connection, defer: Defer) {
  const { db, close } = await openDatabase(connection, silentLogger);
  defer(close);
  await sql`insert into embedded_gateway_account (key_id, key_secret) values (${keys.keyId}, ${keys.keySecret})`.execute(
    db,
  );
  const app = Fastify({ forceCloseConnections: true });
  const provider: { fault: "none" | "errors" | "silence" } = { fault: "none" };
  app.addHook("onRequest", async (_, reply) => {
    if (provider.fault === "errors")
      return reply.code(500).send({ error: { code: "SERVER_ERROR", description: "broken" } });
    if (provider.fault === "silence") return reply.hijack();
  });
  (await embeddedProvider({ db })).routes(app, operatorPages({ key: keys.keySecret, appUrl: "http://localhost" }));
  await app.listen({ port: 0, host: "127.0.0.1" });
  defer(() => app.close());
  const origin = app.listeningOrigin;
  const url = `${origin}${embeddedProviderPath}`;
  const minimumMinor = { USD: 1, INR: 1 };
  const client = razorpay({ ...keys, baseUrl: url, kind: "razorpay", mode: "test", minimumMinor });
  return Object.assign(provider, { origin, url, client });
}
