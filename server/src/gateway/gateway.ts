import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Changes } from "../database/changes.ts";
import { openCountsElsewhere } from "../database/counts-elsewhere.ts";
import type { Database, Db } from "../database/database.ts";
import { clientAddress, type TrustProxy } from "../http/client-address.ts";
import type { Logger } from "../logging/create-logger.ts";
import { createGatewayCounts, type GatewayCounts } from "./access/gateway-counts.ts";
import { mayGoOn } from "./access/may-go-on.ts";
import { createOpenExchanges, type Limits } from "./access/open-exchanges.ts";
import { createActivityTracker } from "./forward/activity-tracker.ts";
import { createGrantCookies } from "./principal/grant-cookies.ts";
import type { Grants } from "./principal/grants.ts";
import { createNoteRefusal } from "./refusals/note-refusal.ts";
import { refuseUnread } from "./refusals/refuse.ts";
import { type ServeDeps, serveRequest, serveUpgrade } from "./serve-request.ts";
import { createBarFactsCache } from "./sign-in/bar-facts-cache.ts";
import { createSshDoor } from "./ssh/ssh-door.ts";
import { createHostNames, type HostNames } from "./target/host-names.ts";
import { sweepRun } from "./target/run.ts";
import { openTargets } from "./target/targets.ts";

const sweepMs = 500;
/** How long a stopping gateway waits for WebSockets to end. */
const leaveMs = 1000;
const pollMs = 10;

export interface Gateway {
  /** Classifies hosts, and builds the public URLs of environments. */
  readonly hosts: HostNames;
  /** For every host but the app's; an unknown host gets 421. */
  onRequest(request: IncomingMessage, response: ServerResponse): void;
  onUpgrade(request: IncomingMessage, socket: Duplex, early: Buffer): void;
  /** For the server's `clientError`: requests of any host that the parser refused. */
  onClientError(error: NodeJS.ErrnoException, socket: Duplex): void;
  /** A connection to SSH_PORT (G405). */
  onSshConnection(socket: Socket): void;
  /** Requests, WebSockets and SSH connections in progress. */
  readonly openSockets: number;
  readonly counts: GatewayCounts;
  /** Tells WebSockets to connect again, closes all exchanges and upstream connections. A second call waits for the first. */
  close(): Promise<void>;
}

export interface GatewayDeps {
  readonly db: Db;
  readonly changes: Changes;
  /** Of the same database: limits of connections then hold over all gateways (G178). */
  readonly listen?: Database["listen"];
  /** Environments use its scheme and port too (G96). */
  readonly appUrl: string;
  readonly envHost: string;
  /** The installation's secret; the cookie's HMAC key is derived from it. */
  readonly secret: Buffer;
  readonly log: Logger;
  /** Reverse proxies that are trusted for the client's address; the same as for the app. */
  readonly trustProxy: TrustProxy;
  readonly limits?: Partial<Limits>;
  /** Interval of writing activity to the database. */
  readonly activityMs?: number;
}

/**
 * Options for the HTTP server in front: 16 KB of headers, no timeout for a whole request (send-body.ts ends an idle upload,
 * limit-body.ts a slow body that is not forwarded), and only WebSocket upgrades bypass the request handler.
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
  // HTTP/1.0 must ignore Upgrade (RFC 9110 7.8).
  shouldUpgradeCallback: ({ headers, httpVersion }: IncomingMessage) =>
    httpVersion === "1.1" && headers.upgrade?.toLowerCase() === "websocket",
} satisfies ServerOptions;

/** The reverse proxy for environments at `{subdomain}.{envHost}` (docs/internals/gateway.md). */
export async function createGateway(given: GatewayDeps): Promise<Gateway> {
  const { db, appUrl, log } = given;
  const hosts = createHostNames(given);
  const grants: Grants = new Map();
  const elsewhere = given.listen && (await openCountsElsewhere({ db, listen: given.listen }, "open_exchanges"));
  const exchanges = createOpenExchanges(given.limits ?? {}, elsewhere);
  const onChange = () => exchanges.endUnless((exchange) => mayGoOn({ targets, grants }, exchange));
  const targets = await openTargets({ db, changes: given.changes, grants, log, onChange });
  const cookies = createGrantCookies({ secret: given.secret, secure: hosts.secure, grants, nowMs: targets.nowMs });
  const activity = createActivityTracker(db, given.activityMs ?? 5000, log);
  const addressOf = (request: IncomingMessage) => clientAddress(request, given.trustProxy);
  const counts = createGatewayCounts();
  const noteRefusal = createNoteRefusal({ refusals: counts.refusals, hosts, log });
  const barFacts = createBarFactsCache(db);
  const parts = { barFacts, hosts, cookies, targets, exchanges, counts, activity, addressOf, noteRefusal };
  const ssh = createSshDoor({ ...given, ...parts });
  const deps: ServeDeps = { db, appUrl, log, ...parts, ssh };
  // Expiry sends no notification.
  const sweeper = setInterval(() => {
    onChange();
    void exchanges.announce();
    for (const { run } of targets.all()) if (run) sweepRun(run);
  }, sweepMs);

  let closing: Promise<void> | undefined;
  return {
    hosts,
    counts,
    onRequest: (request, response) => serveRequest(deps, request, response),
    onUpgrade: (request, socket, early) => serveUpgrade(deps, request, socket, early),
    onSshConnection: ssh.onConnection,
    onClientError: (error, socket) => refuseUnread(error, socket, appUrl),
    get openSockets() {
      return exchanges.size;
    },
    close: () => (closing ??= close()),
  };

  async function close(): Promise<void> {
    clearInterval(sweeper);
    ssh.close();
    exchanges.leaveAll();
    const end = performance.now() + leaveMs;
    while (exchanges.size > 0 && performance.now() < end) await sleep(pollMs);
    await targets.close();
    exchanges.endUnless(() => false);
    await activity.stop();
  }
}
