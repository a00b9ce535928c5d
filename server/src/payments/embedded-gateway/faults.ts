import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import * as z from "zod";
import { DialectError } from "./dialect-error.ts";
import { read } from "./read.ts";
import { unlimited } from "./unlimited.ts";

const share = z.number().min(0).max(1).default(0);
const body = z.object({
  /** Of the merchant's calls: refused before any work, refused as too many, answered too late, cut off after the work. */
  serverError: share,
  tooMany: share,
  hang: share,
  drop: share,
  /** Of the webhooks: never sent, sent three times, sent up to ten seconds later than the next ones. */
  lost: share,
  tripled: share,
  delayed: share,
});

export type Faults = z.output<typeof body>;

const hangMs = 15_000;

/** What goes wrong at a provider, by chance; nothing, until a merchant asks for it (payments.md 8). Kept in memory only. */
export function faultsOf(): Faults {
  return body.parse({});
}

export function happens(probability: number): boolean {
  return Math.random() < probability;
}

/** Every call of the scope may fail in each way; the call that sets the faults never does. */
export function failByChance(merchant: FastifyInstance, faults: Faults): void {
  merchant.addHook("preHandler", async ({ routeOptions }) => {
    if (isControl(routeOptions.url)) return;
    if (happens(faults.serverError))
      throw new DialectError("We are facing some trouble", { code: "SERVER_ERROR", httpStatus: 500 });
    if (happens(faults.tooMany)) throw new DialectError("Too many requests", { httpStatus: 429 });
    if (happens(faults.hang)) await sleep(hangMs);
  });
  merchant.addHook("onSend", async ({ routeOptions }, reply) => {
    if (!isControl(routeOptions.url) && happens(faults.drop)) reply.raw.destroy();
  });
  merchant.put("/test/faults", unlimited, async (request) => Object.assign(faults, read(body, request.body)));
}

function isControl(url: string | undefined): boolean {
  return url?.includes("/test/") ?? false;
}
