import { type Loop, startInterval } from "../../async/start-interval.ts";
import { logError } from "../../logging/create-logger.ts";
import { recordDispute } from "../disputes/record-dispute.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import type { ProviderDispute } from "../provider/provider.ts";
import { settlePayment } from "./settle-payment.ts";

const intervalMs = 3_600_000;

/** Reads the newest disputes at the provider every hour, because webhooks get lost. */
export function startDisputePoller(deps: PaymentsDeps): Loop {
  return startInterval({
    name: "disputes",
    work: async () => {
      for (const dispute of await fetchChanged(deps))
        await recordOrFetchPayment(deps, dispute).catch(logError(deps.log, "dispute.check_failed"));
      return intervalMs;
    },
    intervalMs,
    log: deps.log,
  });
}

/** Reads a dispute at the provider after a webhook about it, and records it. Throws `ProviderError`. */
export async function syncDispute(deps: PaymentsDeps, disputeId: string): Promise<void> {
  await recordOrFetchPayment(deps, await deps.provider.dispute(disputeId));
}

/** Ignores disputes of payments that another system made with the same keys. */
async function recordOrFetchPayment(deps: PaymentsDeps, dispute: ProviderDispute): Promise<void> {
  if ((await recordDispute(deps, dispute)) !== "unknown_payment") return;
  await settlePayment(deps, await deps.provider.payment(dispute.paymentId));
  await recordDispute(deps, dispute);
}

/** Returns the disputes whose status differs from ours. */
async function fetchChanged({ db, provider }: PaymentsDeps): Promise<readonly ProviderDispute[]> {
  const newest = await provider.disputes();
  const known = await db
    .selectFrom("disputes")
    .select(["gateway_dispute_id as id", "status"])
    .where("gateway", "=", provider.kind)
    .where("gateway_dispute_id", "in", ["", ...newest.map(({ id }) => id)])
    .execute();
  const statuses = new Map(known.map(({ id, status }) => [id, status]));
  return newest.filter(({ id, status }) => statuses.get(id) !== status);
}
