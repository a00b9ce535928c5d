import { isIPv6 } from "node:net";
import { type AnyEndpoint, deleteAccount, logout, settingsPassword, updatePassword } from "@berth/contract";
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../app-error.ts";
import type { User } from "./request-user.ts";

interface Limits {
  readonly requestsPerMinute: number;
  readonly anonymousPerMinute: number;
  readonly unauthenticatedPerMinute: number;
}

/** One sign-in that is used up leaves the others as much again. */
const sessionsPerUser = 2;

/** The owner's ways out, which whoever uses up a sign-in must not close (G91). */
const waysOut: ReadonlySet<AnyEndpoint | undefined> = new Set([
  logout,
  updatePassword,
  settingsPassword,
  deleteAccount,
]);

/**
 * Resolves the bearer token, then counts (G91): requests for each sign-in and twice as many for its user, requests without
 * a token for each network, and refused tokens for each network. The token is read in preParsing, because in onRequest the
 * limiter would never see a 401. Routes with `rateLimit: false` are free: files, health.
 */
export async function limitRequests(
  app: FastifyInstance,
  limits: Limits,
  authenticate: (request: FastifyRequest) => Promise<User | undefined>,
): Promise<void> {
  const timeWindow = 60_000;
  await app.register(rateLimit, {
    // Before the body is read, and after the hook below.
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
    // What was refused counts for that sign-in alone.
    if (!isWayOut(request)) await count(ofUser, request);
  });
}

type Limiter = ReturnType<FastifyInstance["createRateLimit"]>;

async function count(limiter: Limiter, request: FastifyRequest): Promise<void> {
  const counted = await limiter(request);
  if ("isExceeded" in counted && counted.isExceeded) throw tooMany(counted.ttl);
}

/** Reading is counted apart, so that the pages of an office leave its people their sign-ins. */
function anonymousKey({ ip, method }: FastifyRequest): string {
  const network = addressKey(ip);
  return method === "GET" || method === "HEAD" ? `read ${network}` : network;
}

/** A way out is counted apart, and for each network: a thief elsewhere does not use it up. */
function sessionKey(request: FastifyRequest): string {
  const { user, ip, routeOptions } = request;
  const session = `session ${user?.sessionId ?? user?.id}`;
  return isWayOut(request) ? `${session} ${addressKey(ip)} ${routeOptions.url}` : session;
}

function isWayOut({ routeOptions }: FastifyRequest): boolean {
  return waysOut.has(routeOptions.config.endpoint);
}

function tooMany(ttlMs: number): AppError {
  return new AppError("rate_limited", "Too many requests. Try again in a minute.", {
    retryAfterSeconds: Math.max(1, Math.ceil(ttlMs / 1000)),
  });
}

/** One home network is one key: a /64 of IPv6, whole addresses of IPv4. */
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
