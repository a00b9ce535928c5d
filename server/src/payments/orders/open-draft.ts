import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { RowOf, Tx } from "../../database/database.ts";
import { newId } from "../../database/ids.ts";
import { hold, releaseHold } from "../../environments/allocation/hold.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import { ProviderError, type ProviderOrder } from "../provider/provider.ts";
import { graceMinutes, holdMinutes, minutesAfter, pollDays } from "../settlement/deadlines.ts";
import { providerUnavailable } from "../settlement/sync-payments.ts";
import type { OrderRequest } from "./price-request.ts";
import { unpaidHoldEnd } from "./unpaid-hold-end.ts";

/** The claim that a draft was written or taken under: only its holder opens it at the provider. */
export type Draft = RowOf<"orders"> & { readonly claim: string };

/** An answer lost early leaves time to look for the order within the ten seconds a buyer waits (C12, C13). */
const lookUpLimitMs = 5000;

/** Writes the draft with its hold, or nothing and the reason (G35). */
export async function insertDraft(tx: Tx, deps: PaymentsDeps, userId: string, request: OrderRequest): Promise<Draft> {
  const { provider } = deps;
  const { container } = request;
  const now = (await sql<{ now: Date }>`select now() as now`.execute(tx)).rows[0]?.now ?? new Date();
  const hold_until = request.extends
    ? minutesAfter(now, holdMinutes)
    : await unpaidHoldEnd(tx, deps, userId, container.gpu_count);
  const draft = await tx
    .insertInto("orders")
    .values({
      id: newId(),
      user_id: userId,
      status: "draft",
      container_type: container.container_type,
      subdomain: container.subdomain,
      gpu_count: container.gpu_count,
      duration_hours: container.duration,
      usd_minor: request.usdMinor,
      amount_minor: request.amountMinor,
      currency: request.currency,
      inr_paise_per_usd: request.inrPaisePerUsd,
      gateway: provider.kind,
      mode: provider.mode,
      request_hash: request.hash,
      extends: request.extends ?? null,
      hold_until,
      watch_until: minutesAfter(now, pollDays * 24 * 60),
      next_check_at: sql`now() + interval '30 seconds'`,
      claim: sql`gen_random_uuid()`,
      attempts: 1,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  if (draft.extends) return draft as Draft;
  const { subdomain, gpu_count: gpuCount } = draft;
  const holdUntil = minutesAfter(hold_until, graceMinutes);
  const held = await hold(tx, { orderId: draft.id, userId, subdomain, gpuCount, holdUntil });
  if (!held.ok) throw new AppError(held.code, held.message);
  return draft as Draft;
}

/** Takes over a draft whose claim was given up: after an answer that never came, or a process that died. */
export async function claimDraft({ db }: PaymentsDeps, id: string): Promise<Draft | undefined> {
  const { rows } = await sql<Draft>`
    update orders set claim = gen_random_uuid(), next_check_at = now() + interval '30 seconds', attempts = attempts + 1
    where id = ${id} and status = 'draft' and (claim is null or next_check_at <= now()) returning *`.execute(db);
  return rows[0];
}

/** Makes the order at the provider and stores its id. Throws `unavailable`; the draft then waits for a second try. */
export async function openDraft(deps: PaymentsDeps, draft: Draft): Promise<OrderRow> {
  try {
    const known = draft.attempts > 1 ? await deps.provider.findOrderByReceipt(draft.id) : undefined;
    return await storeOrder(deps, draft, known ?? (await createOrder(deps, draft)));
  } catch (error) {
    if (error instanceof ProviderError && !error.retryable) await expireDraft(deps, draft);
    else await releaseDraft(deps, draft);
    throw providerUnavailable(deps, error, "nothing_taken");
  }
}

/** A lost answer may hide an order that was made: look before anyone makes a second. */
async function createOrder({ provider }: PaymentsDeps, draft: Draft): Promise<ProviderOrder> {
  const startedAt = performance.now();
  const { id: receipt, amount_minor: amountMinor, currency, user_id, subdomain } = draft;
  try {
    return await provider.createOrder({ receipt, amountMinor, currency, notes: { user_id, subdomain } });
  } catch (error) {
    const early = performance.now() - startedAt < lookUpLimitMs;
    const unknown = error instanceof ProviderError && error.retryable && early;
    const made = unknown ? await provider.findOrderByReceipt(receipt) : undefined;
    if (made) return made;
    throw error;
  }
}

export async function storeOrder({ db }: PaymentsDeps, draft: Draft, made: ProviderOrder): Promise<OrderRow> {
  if (made.amountMinor !== draft.amount_minor || made.currency !== draft.currency)
    throw new ProviderError("an order of another amount", { retryable: false, code: "INVALID_ANSWER" });
  const opened = await db
    .updateTable("orders")
    .set({
      status: "open",
      gateway_order_id: made.id,
      claim: null,
      attempts: 0,
      last_error: null,
      next_check_at: sql`created_at + interval '30 seconds'`,
    })
    .where("id", "=", draft.id)
    .where("claim", "=", draft.claim)
    .where("status", "=", "draft")
    .returningAll()
    .executeTakeFirst();
  if (opened) return opened;
  const row = await db.selectFrom("orders").selectAll().where("id", "=", draft.id).executeTakeFirstOrThrow();
  if (row.gateway_order_id === made.id) return row;
  throw new AppError("unavailable", "This order took too long. Nothing was charged. Try again.", {
    retryAfterSeconds: 1,
  });
}

export async function expireDraft({ db }: PaymentsDeps, { id, claim }: Draft): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const expired = await tx
      .updateTable("orders")
      .set({ status: "expired", closed_at: sql`now()`, claim: null, next_check_at: null })
      .where("id", "=", id)
      .where("claim", "=", claim)
      .where("status", "=", "draft")
      .returning("id")
      .executeTakeFirst();
    if (expired) await releaseHold(tx, id);
  });
}

async function releaseDraft({ db }: PaymentsDeps, { id, claim }: Draft): Promise<void> {
  await db
    .updateTable("orders")
    .set({ claim: null, next_check_at: sql`now() + interval '5 seconds'` })
    .where("id", "=", id)
    .where("claim", "=", claim)
    .execute();
}
