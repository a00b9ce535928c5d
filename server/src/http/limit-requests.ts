import { isIPv6 } from "node:net";
import {
  type AnyEndpoint,
  countSearch,
  deleteAccount,
  logout,
  settingsPassword,
  updatePassword,
} from "@berth/contract";
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../app-error.ts";
import type { Db } from "../database/database.ts";
import type { User } from "./request-user.ts";
import { sharedCounts } from "./shared-counts.ts";

interface Limits {
  readonly requestsPerMinute: number;
  readonly anonymousPerMinute: number;
  readonly unauthenticatedPerMinute: number;
}

interface LimitDeps {
  /** Where all replicas count. */
  readonly db: Db;
  readonly authenticate: (request: FastifyRequest) => Promise<User | undefined>;
}

const timeWindow = 60_000;

/** A user's limit as a multiple of a sign-in's, so that one exhausted sign-in leaves capacity for others. */
export const sessionsPerUser = 2;

/** Calls that stop a stolen sign-in; an attacker must not block them by exhausting its rate limit (G91). */
const recoveryCalls: ReadonlySet<AnyEndpoint | undefined> = new Set([
  logout,
  updatePassword,
  settingsPassword,
  deleteAccount,
]);

/**
 * Authenticates the bearer token, then applies rate limits (G91): per sign-in, per user (twice as high), per network for
 * requests without a token, and per network for invalid tokens. Runs in preParsing, because in onRequest the limiter would
 * never see a 401. Routes with `rateLimit: false` are exempt (files, health), and so is the server where it calls itself. All
 * replicas of the API count together.
 */
export async function limitRequests(
  app: FastifyInstance,
  limits: Limits,
  { db, authenticate }: LimitDeps,
): Promise<void> {
  const { anonymousPerMinute, requestsPerMinute, unauthenticatedPerMinute } = limits;
  const perUser = requestsPerMinute * sessionsPerUser;
  await app.register(rateLimit, {
    store: sharedCounts(db),
    // Before the body is read.
    hook: "preParsing",
    timeWindow,
    // A network may pay as often as one account may call.
    max: (request) => (isDialog(request) ? perUser : anonymousPerMinute),
    keyGenerator: anonymousKey,
    allowList: ({ user, isOwnCall, routeOptions }) =>
      user !== undefined || isOwnCall === true || routeOptions.config.rateLimit === false,
    errorResponseBuilder: (request, { ttl, max }) =>
      tooMany(ttl, `This network's limit of ${max} ${isDialog(request) ? "payment " : ""}requests a minute`),
  });
  const countSession = limiter(app, requestsPerMinute, "This sign-in's", sessionKey);
  const countUser = limiter(app, perUser, "This account's", ({ user }) => `user ${user?.id}`);
  const notSignedIn = "For requests that are not signed in, this network's";
  const countRefusedToken = limiter(app, unauthenticatedPerMinute, notSignedIn, ({ ip }) => `401 ${addressKey(ip)}`);

  app.addHook("preParsing", async (request) => {
    if (request.routeOptions.config.auth !== "bearer") return;
    request.user = await authenticate(request);
    if (!request.user) {
      await countRefusedToken(request);
      throw new AppError("unauthenticated", "Sign in first");
    }
    await countSession(request);
    // Requests that the sign-in's limit refused do not count for the user.
    if (!isRecovery(request)) await countUser(request);
  });
}

/** Returns a function that counts a request and throws `rate_limited`; `whose` begins the sentence that names the limit. */
export function limiter(
  app: FastifyInstance,
  max: number,
  whose: string,
  keyGenerator: (request: FastifyRequest) => string,
): (request: FastifyRequest) => Promise<void> {
  const check = app.createRateLimit({ timeWindow, max, keyGenerator, allowList: [] });
  return async (request) => {
    const counted = await check(request);
    if ("isExceeded" in counted && counted.isExceeded)
      throw tooMany(counted.ttl, `${whose} limit of ${max} requests a minute`);
  };
}

/** Reads and searches have limits of their own, so that page loads of a shared network do not block its sign-ins. */
function anonymousKey(request: FastifyRequest): string {
  const { ip, method } = request;
  const network = addressKey(ip);
  if (isDialog(request)) return `dialog ${network}`;
  if (request.routeOptions.config.endpoint === countSearch) return `search ${network}`;
  return method === "GET" || method === "HEAD" ? `read ${network}` : network;
}

/** Recovery calls are counted separately by network, so that an attacker elsewhere cannot exhaust their limit. */
function sessionKey(request: FastifyRequest): string {
  const { user, ip, routeOptions } = request;
  const session = `session ${user?.sessionId ?? user?.id}`;
  return isRecovery(request) ? `${session} ${addressKey(ip)} ${routeOptions.url}` : session;
}

function isRecovery({ routeOptions }: FastifyRequest): boolean {
  return recoveryCalls.has(routeOptions.config.endpoint);
}

function isDialog({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.limit === "dialog";
}

/** `limit` says whose it is. */
function tooMany(ttlMs: number, limit: string): AppError {
  return new AppError("rate_limited", `Too many requests. Try again in a minute. ${limit} is reached.`, {
    retryAfterSeconds: Math.max(1, Math.ceil(ttlMs / 1000)),
  });
}

/** Rate limit key of an address: an IPv6 /64, as one home network has, or a whole IPv4 address. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  const [head = "", tail] = address.split("%")[0]?.split("::") ?? [];
  const left = head === "" ? [] : head.split(":");
  const right = tail ? tail.split(":") : [];
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => "0"), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
