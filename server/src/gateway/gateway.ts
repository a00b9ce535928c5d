import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Changes } from "../database/changes.ts";
import type { Db } from "../database/database.ts";
import { type TrustProxy, visitorAddress } from "../http/visitor-address.ts";
import { createOpenExchanges, type Limits } from "./access/open-exchanges.ts";
import { type Core, mayStay } from "./access/resolve-route.ts";
import { createActivityTracker } from "./forward/activity-tracker.ts";
import { createGrantCookies } from "./principal/grant-cookies.ts";
import type { Grants } from "./principal/grants.ts";
import { refuseUnread } from "./refusals/refuse.ts";
import { serveRequest, serveUpgrade } from "./serve-request.ts";
import { createHostNames, type HostNames } from "./target/host-names.ts";
import { openTargets } from "./target/targets.ts";

const sweepMs = 500;

export interface Gateway {
  /** Which hosts are whose, and where an environment answers. */
  readonly hosts: HostNames;
  owns(host: string | undefined): boolean;
  /** Any host but the app's: an environment's, or a foreign one, which gets 421. */
  onRequest(request: IncomingMessage, response: ServerResponse): void;
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** For the server's `clientError`: what the parser refused, on every host. */
  onClientError(error: NodeJS.ErrnoException, socket: Duplex): void;
  /** Requests and WebSockets under way. */
  readonly openSockets: number;
  /** Ends everything under way and every connection to an environment. */
  close(): Promise<void>;
}

export interface GatewayDeps {
  readonly db: Db;
  readonly changes: Changes;
  /** Its scheme and port hold for the environments too (G96). */
  readonly appUrl: string;
  readonly envHost: string;
  /** The installation's secret; the cookie's key is derived from it. */
  readonly secret: Buffer;
  readonly failed: (error: unknown) => void;
  /** Which proxies in front are believed in what they say of the visitor; the same as for the app. */
  readonly trustProxy: TrustProxy;
  readonly limits?: Partial<Limits>;
  /** How often the database hears what was used. */
  readonly usesMs?: number;
}

/**
 * What the HTTP server in front must be made with: 16 KB of header, no limit on a whole request (a long upload is fine,
 * a silent one is ended in forward.ts, what is not forwarded in slow-bodies.ts), and only WebSocket upgrades leave the
 * request path.
 */
export const serverOptions = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 15_000,
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5000,
  requireHostHeader: true,
  insecureHTTPParser: false,
  noDelay: true,
  optimizeEmptyRequests: true,
  // HTTP/1.0 has no upgrade, so there the field is ignored (RFC 9110 7.8).
  shouldUpgradeCallback: ({ headers, httpVersion }: IncomingMessage) =>
    httpVersion === "1.1" && headers.upgrade?.toLowerCase() === "websocket",
} satisfies ServerOptions;

/** Every environment at `{subdomain}.{envHost}`, for its owner alone (docs/internals/gateway.md). */
export async function createGateway(parts: GatewayDeps): Promise<Gateway> {
  const { db, appUrl, failed } = parts;
  const hosts = createHostNames(parts);
  const grants: Grants = new Map();
  const open = createOpenExchanges(parts.limits ?? {});
  let sweep = () => {};
  const targets = await openTargets({ db, changes: parts.changes, grants, failed, changed: () => sweep() });
  const cookies = createGrantCookies({ secret: parts.secret, secure: hosts.secure, grants, now: targets.nowMs });
  const uses = createActivityTracker(db, parts.usesMs ?? 5000, failed);
  const core: Core = {
    db,
    appUrl,
    hosts,
    grants,
    cookies,
    targets,
    open,
    uses,
    addressOf: (request) => visitorAddress(request, parts.trustProxy),
    failed,
  };
  sweep = () => open.keep((one) => mayStay(core, one));
  // Expiry comes without an event, so the clock is looked at too.
  const sweeper = setInterval(() => {
    sweep();
    for (const { upstream } of targets.all()) upstream?.sweep();
  }, sweepMs);

  return {
    hosts,
    owns: (host) => hosts.labelOf(host) !== undefined,
    onRequest: (request, response) => serveRequest(core, request, response),
    onUpgrade: (request, socket, head) => serveUpgrade(core, request, socket, head),
    onClientError: (error, socket) => refuseUnread(error, socket, appUrl),
    get openSockets() {
      return open.size;
    },
    async close() {
      clearInterval(sweeper);
      await targets.close();
      open.keep(() => false);
      await uses.stop();
    },
  };
}
