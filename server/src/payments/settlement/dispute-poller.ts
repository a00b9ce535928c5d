import { type Loop, startLoop } from "../../async/start-interval.ts";
import { observeDispute } from "../disputes/record-dispute.ts";
import type { Payments } from "../provider/payments-deps.ts";
import type { GatewayDispute } from "../provider/provider.ts";
import { note } from "./sync-payments.ts";

const intervalMs = 3_600_000;

/** Disputes are told by webhook, and webhooks get lost: every hour the provider is asked for the newest ones. */
export function startDisputes(payments: Payments): Loop {
  return startLoop(
    async () => {
      for (const seen of await unknownOf(payments)) await follow(payments, seen).catch(payments.failed);
      return intervalMs;
    },
    intervalMs,
    payments.failed,
  );
}

/** A webhook says that something happened to a dispute: what it is now is asked for. Throws `GatewayError`. */
export async function followDispute(payments: Payments, disputeId: string): Promise<void> {
  await follow(payments, await payments.provider.dispute(disputeId));
}

/** One of a payment that is not ours, made with the same keys elsewhere, is nothing to us. */
async function follow(payments: Payments, seen: GatewayDispute): Promise<void> {
  if ((await observeDispute(payments, seen)) !== "unknown_payment") return;
  await note(payments, await payments.provider.payment(seen.paymentId));
  await observeDispute(payments, seen);
}

/** Those that we do not have yet as they are now. */
async function unknownOf({ db, provider }: Payments): Promise<readonly GatewayDispute[]> {
  const seen = await provider.disputes();
  const known = await db
    .selectFrom("disputes")
    .select(["gateway_dispute_id as id", "status"])
    .where("gateway", "=", provider.kind)
    .where("gateway_dispute_id", "in", ["", ...seen.map(({ id }) => id)])
    .execute();
  const statuses = new Map(known.map(({ id, status }) => [id, status]));
  return seen.filter(({ id, status }) => statuses.get(id) !== status);
}
