import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import * as z from "zod";
import { AppError } from "../../app-error.ts";
import type { Db } from "../../database/database.ts";
import { success } from "../../http/mount.ts";
import { isSigned } from "../provider/is-signed.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import { shortenVpa } from "../provider/shorten-vpa.ts";

const mostBytes = 1024 * 1024;
const eventId = z.string().regex(/^[\w-]{1,64}$/);
const webhookHead = z.object({ event: z.string().max(64) });

export interface WebhookDeps extends Pick<PaymentsDeps, "db" | "webhookSecrets"> {
  readonly provider: Pick<PaymentsDeps["provider"], "kind">;
}

/**
 * `POST /webhooks/razorpay`: checks the signature over the raw bytes and stores the event. The webhook processor handles it
 * later, so that a slow provider does not delay the reply. Not mounted without a secret.
 */
export function webhookRoute(app: FastifyInstance, { db, provider, webhookSecrets }: WebhookDeps): void {
  if (webhookSecrets.length === 0) return;
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: mostBytes }, (_, body, done) => done(null, body));
    // Not rate limited, because the provider sends bursts from few addresses.
    scope.post("/webhooks/razorpay", { config: { rateLimit: false } }, async ({ body, headers }) => {
      // Any secret is accepted: after a rotation, retries still have the old signature.
      const signature = String(headers["x-razorpay-signature"]);
      if (!Buffer.isBuffer(body) || !webhookSecrets.some((secret) => isSigned(body, signature, secret)))
        throw new AppError("invalid_request", "The signature does not hold");
      const { event, document } = readEvent(body);
      await store(db, {
        gateway: provider.kind,
        // Not signed: only for deduplication.
        event_id:
          eventId.safeParse(headers["x-razorpay-event-id"]).data ?? createHash("sha256").update(body).digest("hex"),
        event,
        body: shortened(body, document),
      });
      return success;
    });
  });
}

function readEvent(body: Buffer): z.output<typeof webhookHead> & { readonly document: unknown } {
  try {
    const document: unknown = JSON.parse(body.toString("utf8"));
    return { ...webhookHead.parse(document), document };
  } catch (cause) {
    throw new AppError("invalid_request", "The body is not an event", { cause });
  }
}

/** Without whole UPI addresses (G367): the signature has been checked, and only ids are read later. */
function shortened(body: Buffer, document: unknown): Buffer {
  let isChanged = false;
  const text = JSON.stringify(document, (key, value: unknown) => {
    if (key !== "vpa" || typeof value !== "string") return value;
    isChanged = true;
    return shortenVpa(value);
  });
  return isChanged ? Buffer.from(text) : body;
}

async function store(
  db: Db,
  row: { readonly gateway: string; readonly event_id: string; readonly event: string; readonly body: Buffer },
): Promise<void> {
  await db
    .insertInto("gateway_events")
    .values(row)
    .onConflict((conflict) => conflict.columns(["gateway", "event_id"]).doNothing())
    .execute();
}
