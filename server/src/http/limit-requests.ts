import { isIPv6 } from "node:net";
import { type AnyEndpoint, deleteAccount, logout, settingsPassword, updatePassword } from "@berth/contract";
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
 * never see a 401. Routes with `rateLimit: false` are exempt: files, health. All replicas of the API count together.
 */
export async function limitRequests(
  app: FastifyInstance,
  limits: Limits,
  { db, authenticate }: LimitDeps,
): Promise<void> {
  const timeWindow = 60_000;
  await app.register(rateLimit, {
    store: sharedCounts(db),
    // Before the body is read.
    hook: "preParsing",
    timeWindow,
    max: limits.anonymousPerMinute,
    keyGenerator: anonymousKey,
    allowList: ({ user, routeOptions }) => user !== undefined || routeOptions.config.rateLimit === false,
    errorResponseBuilder: (_, { ttl }) => tooMany(ttl),
  });
  const limiter = (max: number, keyGenerator: (request: FastifyRequest) => string) =>
    app.createRateLimit({ timeWindow, max, keyGenerator, allowList: [] });
  const ofSession = limiter(limits.requestsPerMinute, sessionKey);
  const ofUser = limiter(limits.requestsPerMinute * sessionsPerUser, ({ user }) => `user ${user?.id}`);
  const refusedToken = limiter(limits.unauthenticatedPerMinute, ({ ip }) => `401 ${addressKey(ip)}`);

  app.addHook("preParsing", async (request) => {
    if (request.routeOptions.config.auth !== "bearer") return;
    request.user = await authenticate(request);
    if (!request.user) {
      await count(refusedToken, request);
      throw new AppError("unauthenticated", "Sign in first");
    }
    await count(ofSession, request);
    // Requests that the sign-in's limit refused do not count for the user.
    if (!isRecovery(request)) await count(ofUser, request);
  });
}

type Limiter = ReturnType<FastifyInstance["createRateLimit"]>;

async function count(limiter: Limiter, request: FastifyRequest): Promise<void> {
  const counted = await limiter(request);
  if ("isExceeded" in counted && counted.isExceeded) throw tooMany(counted.ttl);
}

/** Reads have a limit of their own, so that page loads of a shared network do not block its sign-ins. */
function anonymousKey({ ip, method }: FastifyRequest): string {
  const network = addressKey(ip);
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

function tooMany(ttlMs: number): AppError {
  return new AppError("rate_limited", "Too many requests. Try again in a minute.", {
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
