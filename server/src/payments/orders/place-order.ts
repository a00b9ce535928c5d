import { type Catalogue, type createOrder, type Input, plural, pricesAt, type ReplyOf } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { isUniqueViolation } from "../../database/database.ts";
import { fetchDue, finish, inMs } from "../../database/work-queue.ts";
import { releaseHold } from "../../environments/allocation/hold.ts";
import { type Unit, unitOfHosts, unitWord, wordOf } from "../../environments/leases/read-unit.ts";
import type { User } from "../../http/request-user.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import { ProviderError, type ProviderOrder } from "../provider/provider.ts";
import { isFromProvider, providerUnavailable } from "../settlement/sync-payments.ts";
import { supersede } from "./end-unpaid-order.ts";
import { checkOrderRequest, type Offer, type OrderRequest } from "./price-request.ts";
import { checkAccountHold, type Draft, orderQueue, reserveOrder } from "./reserve-order.ts";
import { waitUntil } from "./wait-until.ts";

/** Options of the payment dialog. */
export type Checkout = ReplyOf<typeof createOrder>;

/** Accent color of the dialog. */
const themeColor = "#0f1517";
/** After a response lost this early there is time to look up the order within the ten seconds a buyer waits (C12, C13). */
const lookUpLimitMs = 5000;
const isDraft = sql`status = 'draft'`;

/** create_order: checks and prices the request, and opens an order for it at the provider. Throws `AppError`. */
export async function placeOrder(
  deps: PaymentsDeps,
  user: User,
  body: Input<typeof createOrder>["body"],
): Promise<Checkout> {
  await checkMayPay(deps, user);
  return placeRequest(deps, user.id, checkOrderRequest(body, user.id, await offerOf(deps)));
}

/** What is sold now, by the database's clock. */
export async function offerOf({ db, catalogue, provider }: PaymentsDeps): Promise<Offer> {
  const { rows } = await sql<{ now: Date; unit: Unit }>`select now() as now, ${unitOfHosts} as unit`.execute(db);
  const { now = new Date(), unit = "gpu" } = rows[0] ?? {};
  return { catalogue, prices: pricesAt(catalogue, now), minimumMinor: provider.minimumMinor, unit: wordOf(unit) };
}

/** Real payments need a verified email (G52) and enough disk space to deliver. */
export async function checkMayPay(
  { provider, checkRoom }: PaymentsDeps,
  { email, emailVerified }: User,
): Promise<void> {
  if (provider.mode === "live" && !emailVerified)
    throw new AppError("email_unverified", `Confirm your email first: we send a link to ${email}.`);
  await checkRoom?.();
}

/**
 * One unpaid order per user. The same request gets the same order; another request supersedes it once the provider reports
 * nothing in flight (docs/internals/money.md). GPUs and name are held before the call to the provider. If a concurrent call of the
 * same user is first at any step, this one retries.
 */
export async function placeRequest(deps: PaymentsDeps, userId: string, request: OrderRequest): Promise<Checkout> {
  for (let tries = 0; tries < 5; tries++) {
    const unpaid = await findUnpaid(deps, userId);
    const order = unpaid ? await reuse(deps, unpaid, request) : await openNew(deps, userId, request);
    if (order) return checkoutOf(deps, order);
  }
  throw anotherIsPlaced();
}

/** Returns undefined when a concurrent call of the same user was first. */
async function openNew(deps: PaymentsDeps, userId: string, request: OrderRequest): Promise<OrderRow | undefined> {
  try {
    const draft = await deps.db.transaction().execute((tx) => reserveOrder(tx, deps, userId, request));
    const order = await openDraft(deps, draft);
    deps.log.info({ event: "order.opened", orderId: order.id, userId }, "an order waits for its payment");
    return order;
  } catch (error) {
    if (isUniqueViolation(error, "one_unpaid_order_per_user")) return undefined;
    throw error;
  }
}

/** Returns undefined when the unpaid order does not fit this request, has ended, or is being opened by another call. */
async function reuse(deps: PaymentsDeps, unpaid: OrderRow, request: OrderRequest): Promise<OrderRow | undefined> {
  const order = unpaid.status === "draft" ? await takeOverDraft(deps, unpaid) : unpaid;
  if (order.status === "open" && isSameRequest(deps, order, request)) {
    // The account may have been put on hold since it was opened.
    await deps.db.transaction().execute((tx) => checkAccountHold(tx, order.user_id));
    return order;
  }
  if (unpaid.status === "open") await supersede(deps, unpaid);
  return undefined;
}

export function findUnpaid({ db }: PaymentsDeps, userId: string): Promise<OrderRow | undefined> {
  return db
    .selectFrom("orders")
    .selectAll()
    .where("user_id", "=", userId)
    .where("status", "in", ["draft", "open"])
    .executeTakeFirst();
}

/** Only within its hold, not its grace, so that a dialog opened now leaves time to pay. */
function isSameRequest(deps: PaymentsDeps, order: OrderRow, request: OrderRequest): boolean {
  const same = order.request_hash === request.hash && order.extends === (request.extends ?? null);
  return same && isFromProvider(deps, order) && order.hold_until > new Date();
}

/** Waits for the call that holds a draft's lease, or takes over an abandoned draft. */
async function takeOverDraft(deps: PaymentsDeps, { id, user_id: userId }: OrderRow): Promise<OrderRow> {
  const { db, changes } = deps;
  const found = await waitUntil({
    changes,
    userId,
    timeoutMs: 10_000,
    fallbackMs: 1000,
    read: async () => {
      const row = await db.selectFrom("orders").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
      if (row.status !== "draft") return { row };
      const taken = await takeDraft(deps, id);
      return taken && { taken };
    },
  });
  if (!found) throw anotherIsPlaced();
  return found.taken ? await openDraft(deps, found.taken) : found.row;
}

function anotherIsPlaced(): AppError {
  return new AppError("unavailable", "Another order of yours is being placed. Try again.", { retryAfterSeconds: 5 });
}

/** Leases an abandoned draft, after a lost response or a crash. */
async function takeDraft({ db }: PaymentsDeps, id: string): Promise<Draft | undefined> {
  const where = sql`id = ${id} and status = 'draft'`;
  const drafts = await fetchDue(db, orderQueue, { where, limit: 1, early: true, set: { attempts: sql`attempts + 1` } });
  return drafts[0];
}

/** Creates the order at the provider and stores its id. Throws `unavailable`; the draft is then retried. */
async function openDraft(deps: PaymentsDeps, draft: Draft): Promise<OrderRow> {
  try {
    const known = draft.attempts > 1 ? await deps.provider.findOrderByReceipt(draft.id) : undefined;
    return await storeOrder(deps, draft, known ?? (await createAtProvider(deps, draft)));
  } catch (error) {
    if (error instanceof ProviderError && !error.retryable) await expireDraft(deps, draft);
    else await releaseDraft(deps, draft);
    throw providerUnavailable(deps, error, "nothing_taken");
  }
}

/** Looks up the order after a lost response, so that none is created twice. */
async function createAtProvider({ provider }: PaymentsDeps, draft: Draft): Promise<ProviderOrder> {
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
    throw new ProviderError("the provider's order has another amount", { retryable: false, code: "INVALID_ANSWER" });
  const open = {
    status: "open",
    gateway_order_id: made.id,
    attempts: 0,
    last_error: null,
    due_at: sql<Date>`created_at + interval '30 seconds'`,
  } as const;
  const opened = await finish(db, orderQueue, draft, open, isDraft);
  if (opened) return opened;
  const row = await db.selectFrom("orders").selectAll().where("id", "=", draft.id).executeTakeFirstOrThrow();
  if (row.gateway_order_id === made.id) return row;
  throw new AppError("unavailable", "This order took too long. Nothing was charged. Try again.", {
    retryAfterSeconds: 1,
  });
}

export async function expireDraft({ db }: PaymentsDeps, draft: Draft): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const expired = { status: "expired", closed_at: sql<Date>`now()`, due_at: null } as const;
    if (await finish(tx, orderQueue, draft, expired, isDraft)) await releaseHold(tx, draft.id);
  });
}

async function releaseDraft({ db }: PaymentsDeps, draft: Draft): Promise<void> {
  await finish(db, orderQueue, draft, { due_at: inMs(5000) });
}

async function checkoutOf(
  { db, provider, brandName: name, catalogue }: PaymentsDeps,
  order: OrderRow,
): Promise<Checkout> {
  const unit = await unitWord(db);
  return {
    status: "success",
    message: "Order created",
    key_id: provider.keyId,
    amount: order.amount_minor,
    currency: order.currency,
    name,
    description: describe(order, catalogue, unit),
    id: order.gateway_order_id ?? "",
    theme: { color: themeColor },
    timeout: dialogSeconds(order),
  };
}

/** A minute less than the hold: 840 s for a new order. A payment in the last minutes is covered by the grace. */
function dialogSeconds({ hold_until }: OrderRow): number {
  return Math.max(60, Math.round((hold_until.getTime() - Date.now()) / 1000) - 60);
}

/** Such as "PyTorch environment, 2 GPUs, 6 hours"; slots where no host has a GPU (G307). */
function describe(
  { container_type, gpu_count, duration_hours, extends: extended }: OrderRow,
  { types }: Catalogue,
  unit: "GPU" | "slot",
): string {
  const type = types.find(({ id }) => id === container_type);
  const name = type?.short ?? type?.name ?? container_type;
  return `${extended ? "More time, " : ""}${name} environment, ${plural(gpu_count, unit)}, ${plural(duration_hours, "hour")}`;
}
