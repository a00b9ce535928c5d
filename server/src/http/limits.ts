import { isIPv6 } from "node:net";
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";
import type { User } from "./session.ts";

interface Limits {
  readonly requestsPerMinute: number;
  readonly anonymousPerMinute: number;
  readonly unauthenticatedPerMinute: number;
}

/**
 * Resolves the bearer token, then counts (G91): requests per user, requests without a token per address, and refused
 * tokens per address. The token is read in preParsing, because in onRequest the limiter would never see a 401.
 */
export async function limitRequests(
  app: FastifyInstance,
  limits: Limits,
  authenticate: (request: FastifyRequest) => Promise<User | undefined>,
): Promise<void> {
  await app.register(rateLimit, {
    // Before the body is read, and after the hook below.
    hook: "preParsing",
    timeWindow: 60_000,
    max: (request) => (request.user ? limits.requestsPerMinute : limits.anonymousPerMinute),
    keyGenerator: (request) => request.user?.id ?? addressKey(request.ip),
    allowList: (request) => request.method === "GET" && request.routeOptions.config.auth === undefined,
    errorResponseBuilder: (_, { ttl }) => tooMany(ttl),
  });
  const refusedToken = app.createRateLimit({
    timeWindow: 60_000,
    max: limits.unauthenticatedPerMinute,
    keyGenerator: (request) => `401 ${addressKey(request.ip)}`,
  });

  app.addHook("preParsing", async (request) => {
    if (request.routeOptions.config.auth !== "bearer") return;
    request.user = await authenticate(request);
    if (request.user) return;
    const count = await refusedToken(request);
    if ("isExceeded" in count && count.isExceeded) throw tooMany(count.ttl);
    throw new AppError("unauthenticated", "Sign in first");
  });
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
