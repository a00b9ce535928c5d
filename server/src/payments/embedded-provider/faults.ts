import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import * as z from "zod";
import type { Db } from "../../database/database.ts";
import { DialectError } from "./dialect-error.ts";
import { takeOutcome } from "./outcomes.ts";
import { dialectIdText, readInput } from "./read-input.ts";

const share = z.number().min(0).max(1).default(0);
const body = z.object({
  /** Probabilities for merchant calls: 500 before any work, 429, reply after the timeout, connection cut after the work. */
  serverError: share,
  tooMany: share,
  hang: share,
  drop: share,
  /** Merchant calls that are answered within any second; others get 429. 0: all. */
  perSecond: z.number().min(0).default(0),
  /** Probabilities for webhooks: never sent, sent three times, delayed by up to ten seconds. */
  lost: share,
  tripled: share,
  delayed: share,
});

export type Faults = z.output<typeof body>;

const hangMs = 15_000;

/** Random faults of the provider; all 0 until a merchant sets them. Kept in memory only. */
export function faultsOf(): Faults {
  return body.parse({});
}

export function happens(probability: number): boolean {
  return Math.random() < probability;
}

/** Injects the faults into every call of the scope, except the one that sets them. */
export function failByChance(merchant: FastifyInstance, faults: Faults): void {
  let accepted: number[] = [];
  const isBeyondLimit = () => {
    if (faults.perSecond === 0) return false;
    const now = performance.now();
    accepted = accepted.filter((at) => at > now - 1000);
    if (accepted.length >= faults.perSecond) return true;
    accepted.push(now);
    return false;
  };
  merchant.addHook("preHandler", async ({ routeOptions }) => {
    if (isControl(routeOptions.url)) return;
    if (isBeyondLimit()) throw tooMany();
    if (happens(faults.serverError)) throw trouble();
    if (happens(faults.tooMany)) throw tooMany();
    if (happens(faults.hang)) await sleep(hangMs);
  });
  merchant.addHook("onSend", async ({ routeOptions }, reply) => {
    if (!isControl(routeOptions.url) && happens(faults.drop)) reply.raw.destroy();
  });
  merchant.put("/test/faults", async (request) => Object.assign(faults, readInput(body, request.body)));
}

const chosen = ["api_dropped", "api_500", "api_429", "api_hang"];

/** Fails the next call about an order once, as its chosen outcome says (outcomes.ts). */
export function failAsChosen(merchant: FastifyInstance, db: Db): void {
  const dropped = new WeakSet<FastifyRequest>();
  merchant.addHook("preHandler", async (request) => {
    const { data: id } = dialectIdText.safeParse((request.params as { id?: unknown }).id);
    if (!id || isControl(request.routeOptions.url)) return;
    const outcome = await takeOutcome(db, id, isRefund(request) ? [...chosen, "refund_busy"] : chosen);
    if (outcome === "api_500") throw trouble();
    if (outcome === "api_429") throw tooMany();
    if (outcome === "refund_busy")
      throw new DialectError("Another refund request with this key is in progress", { httpStatus: 409 });
    if (outcome === "api_hang") await sleep(hangMs);
    if (outcome === "api_dropped") dropped.add(request);
  });
  merchant.addHook("onSend", async (request, reply) => {
    if (dropped.has(request)) reply.raw.destroy();
  });
}

function isRefund({ method, routeOptions: { url } }: FastifyRequest): boolean {
  return method === "POST" && (url?.endsWith("/refund") ?? false);
}

function trouble(): DialectError {
  return new DialectError("We are facing some trouble", { code: "SERVER_ERROR", httpStatus: 500 });
}

function tooMany(): DialectError {
  return new DialectError("Too many requests", { httpStatus: 429 });
}

function isControl(url: string | undefined): boolean {
  return url?.includes("/test/") ?? false;
}
