import Fastify from "fastify";
import { handleErrors } from "../http/handle-errors.ts";
import { noSchemas } from "../http/no-schemas.ts";
import type { OperatorPages } from "../http/operator-pages.ts";
import type { EmbeddedProvider } from "../payments/embedded-provider/embedded-provider.ts";
import { type WebhookDeps, webhookRoute } from "../payments/settlement/webhook-route.ts";

interface OwnProviderDeps extends WebhookDeps {
  readonly own: EmbeddedProvider;
  readonly local: OperatorPages;
}

interface OwnProviderServer {
  /** Without a trailing slash. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * The embedded provider and the receiver of its webhooks on a free port of loopback, for a worker without an API of its own:
 * what the provider knows is in the database, so each process may have one (G189).
 */
export async function serveOwnProvider({ own, local, ...deps }: OwnProviderDeps): Promise<OwnProviderServer> {
  const app = Fastify({ schemaController: noSchemas, forceCloseConnections: true });
  handleErrors(app);
  own.routes(app, local);
  webhookRoute(app, deps);
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  return { address, close: () => app.close() };
}
