import { randomBytes, timingSafeEqual } from "node:crypto";
import { errorStatus } from "@berth/contract";
import type { FastifyError, FastifyInstance, FastifyRequest } from "fastify";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Loop } from "../../async/start-interval.ts";
import { isLostConnection } from "../../database/connection.ts";
import type { Db } from "../../database/database.ts";
import type { OperatorPages } from "../../http/operator-pages.ts";
import type { Logger } from "../../logging/create-logger.ts";
import type { MerchantAccount } from "./charge.ts";
import { checkoutRoutes } from "./checkout-routes.ts";
import { DialectError } from "./dialect-error.ts";
import { failAsChosen, failByChance, faultsOf } from "./faults.ts";
import { merchantDisputeRoutes } from "./merchant-dispute-routes.ts";
import { merchantOrderRoutes } from "./merchant-order-routes.ts";
import { merchantPaymentRoutes, merchantRefundRoutes } from "./merchant-payment-routes.ts";
import { outcomeRoutes } from "./outcome-routes.ts";
import { testPaymentRoutes } from "./test-payment-routes.ts";
import { startWebhookSender } from "./webhook-sender.ts";

/** Path of the routes; the provider client's base URL is the server's own address and this. */
export const embeddedProviderPath = "/embedded-gateway/v1";
/** The operator's page for choosing outcomes of test payments. */
export const outcomesPath = `${embeddedProviderPath}/test`;

interface EmbeddedProviderOptions {
  readonly db: Db;
  /** How long a refund stays pending. */
  readonly refundDelayMs?: number;
}

export interface EmbeddedProvider extends MerchantAccount {
  /** Mounts the routes below `embeddedProviderPath`; `local` guards the page of outcomes. */
  routes(app: FastifyInstance, local: OperatorPages): void;
  /** Sends signed webhooks about payments, refunds and disputes to `url`. */
  startWebhookSender(url: string, log: Logger): Loop;
}

/** A payment provider in Razorpay's dialect for installations without keys: no money moves (docs/internals/money.md). */
export async function embeddedProvider(options: EmbeddedProviderOptions): Promise<EmbeddedProvider> {
  const { db, refundDelayMs = 2000 } = options;
  const account = await readAccount(db);
  const faults = faultsOf();
  return {
    ...account,
    startWebhookSender: (url, log) => startWebhookSender({ db, url, secret: account.webhookSecret, faults, log }),
    routes(app, local) {
      app.register(
        async (scope) => {
          answerInDialect(scope);
          scope.addHook("onRequest", async (request) => {
            request.isOwnCall = isMerchant(request, account);
          });
          checkoutRoutes(scope, db, account, local);
          outcomeRoutes(scope, { db, local });
          scope.register(async (merchant) => {
            // Behind the limits of visitors, which count who guesses keys.
            merchant.addHook("preValidation", async ({ isOwnCall }) => {
              if (!isOwnCall) throw unauthorized();
            });
            failByChance(merchant, faults);
            failAsChosen(merchant, db);
            testPaymentRoutes(merchant, db);
            merchantOrderRoutes(merchant, db);
            merchantPaymentRoutes(merchant, db);
            merchantRefundRoutes(merchant, db, refundDelayMs);
            merchantDisputeRoutes(merchant, db);
          });
        },
        { prefix: embeddedProviderPath },
      );
    },
  };
}

/** Created at the first start and kept: a new key would orphan every order of the old one. */
export async function readAccount(db: Db): Promise<MerchantAccount> {
  const [keySecret, webhookSecret] = [24, 24].map((bytes) => randomBytes(bytes).toString("hex"));
  const { rows } = await sql<{ key_id: string; key_secret: string; webhook_secret: string }>`
    insert into embedded_gateway_account as stored (key_id, key_secret, webhook_secret)
    values (${`embedded_${randomBytes(10).toString("hex")}`}, ${keySecret}, ${webhookSecret})
    on conflict (one) do update set webhook_secret = coalesce(stored.webhook_secret, excluded.webhook_secret)
    returning key_id, key_secret, webhook_secret`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("the embedded provider has no account");
  return { keyId: row.key_id, keySecret: row.key_secret, webhookSecret: row.webhook_secret };
}

function answerInDialect(scope: FastifyInstance): void {
  scope.setErrorHandler<FastifyError>((error, request, reply) => {
    if (error instanceof DialectError) return reply.code(error.httpStatus).send(error.body);
    const httpStatus = error instanceof AppError ? errorStatus[error.code] : (error.statusCode ?? 500);
    if (httpStatus < 500) return reply.code(httpStatus).send(new DialectError(error.message).body);
    request.log.error(error);
    return reply
      .code(isLostConnection(error) ? 503 : 500)
      .send(new DialectError("We are facing some trouble", { code: "SERVER_ERROR" }).body);
  });
  scope.setNotFoundHandler((_, reply) => {
    void reply.code(404).send(new DialectError("The requested URL was not found on the server").body);
  });
}

function isMerchant(request: FastifyRequest, { keyId, keySecret }: MerchantAccount): boolean {
  const given = Buffer.from(request.headers.authorization ?? "");
  const expected = Buffer.from(`Basic ${Buffer.from(`${keyId}:${keySecret}`).toString("base64")}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function unauthorized(): DialectError {
  const details = { source: "NA", step: "NA", reason: "NA" };
  return new DialectError("The api key provided is invalid", { httpStatus: 401, ...details });
}
