import { plural } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { RowOf, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { type Leased, newLease, workQueue } from "../../database/work-queue.ts";
import { hold } from "../../environments/allocation/hold.ts";
import { freeGpuCount, mostGpus } from "../../environments/leases/gpu-leases.ts";
import { notOfferedYet } from "../../environments/leases/read-capacity.ts";
import { unitWord } from "../../environments/leases/read-unit.ts";
import { instant } from "../../environments/notice.ts";
import { hasReservation } from "../../environments/queue/serve-queue.ts";
import { accountHold } from "../disputes/account-hold.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import {
  graceMinutes,
  holdMinutes,
  minutesAfter,
  pollDays,
  shortHoldMinutes,
  unpaidExtensions,
  unpaidGpuMinutes,
} from "../settlement/deadlines.ts";
import type { OrderRequest } from "./price-request.ts";

export const orderQueue = workQueue("orders", ["id"], 30);

/** Only the holder of the lease may create the draft's order at the provider. */
export type Draft = Leased<RowOf<"orders">>;

type Wanted = Pick<OrderRequest, "container" | "extends">;

/**
 * Checks the account's limits, writes the draft and holds its GPUs and name, all or nothing (G35). Throws `AppError` with
 * the reason.
 */
export async function reserveOrder(tx: Tx, deps: PaymentsDeps, userId: string, request: OrderRequest): Promise<Draft> {
  const { provider } = deps;
  const { container } = request;
  await checkMayOrder(tx, deps, userId, request);
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
      inr_paise_per_usd: request.ratePerDollar,
      gateway: provider.kind,
      mode: provider.mode,
      request_hash: request.hash,
      extends: request.extends ?? null,
      hold_until,
      watch_until: minutesAfter(now, pollDays * 24 * 60),
      due_at: sql`now()`,
      ...newLease(orderQueue),
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

/** Checks whether this user may order so many GPUs at all: before they join the queue, and before a late payment is captured. */
export async function checkQuota(tx: Tx, deps: PaymentsDeps, userId: string, gpuCount: number): Promise<void> {
  await checkAccountHold(tx, userId);
  await checkGpus(tx, deps, userId, gpuCount);
}

/** Checks account, limits and type of an order, whether it is paid or covered by a credit. Throws `AppError`. */
export async function checkMayOrder(tx: Tx, deps: PaymentsDeps, userId: string, wanted: Wanted): Promise<void> {
  await checkAccountHold(tx, userId);
  await checkLimits(tx, deps, userId, wanted);
  if (!wanted.extends) await checkTypeAvailable(tx, wanted);
}

/** Refuses an account that has lost a dispute or is suspended, until an operator lifts that. */
export async function checkAccountHold(tx: Tx, userId: string): Promise<void> {
  const why = await accountHold(tx, userId);
  if (why === "suspended")
    throw new AppError("account_held", "This account is suspended and cannot order.", { money: "nothing_taken" });
  if (why === "disputed")
    throw new AppError(
      "account_held",
      "New orders of this account are stopped, because a payment of it was taken back by the bank. Write to Support.",
      { money: "nothing_taken" },
    );
}

/** Checks the rate limit, the GPU quota and concurrent launches of a user (G52, G89). */
async function checkLimits(
  tx: Tx,
  deps: PaymentsDeps,
  userId: string,
  { container: { gpu_count: gpuCount }, extends: extended }: Wanted,
): Promise<void> {
  const { rows } = await sql<{ launches: number; orders: number }>`
    select (select count(*) from environments where user_id = ${userId} and status = 'pending') as launches,
           (select count(*) from orders where user_id = ${userId} and created_at > now() - interval '1 minute') as orders`.execute(
    tx,
  );
  const { launches, orders } = rows[0] ?? { launches: 0, orders: 0 };
  const { launchesPerUser, ordersPerMinute } = deps.caps;
  if (orders >= ordersPerMinute)
    throw tooMany(
      `Too many orders. Try again in a minute. This account's limit of ${ordersPerMinute} orders a minute is reached.`,
      60,
    );
  if (extended) return await checkUnpaidExtensions(tx, userId);
  await checkGpus(tx, deps, userId, gpuCount);
  if (launches >= launchesPerUser)
    throw tooMany(`${launches} of your environments are still starting. Wait until one is ready.`, 30);
}

/** Orders for more hours hold no GPUs, which would limit them: so nobody keeps many of them at today's price (G314). */
async function checkUnpaidExtensions(tx: Tx, userId: string): Promise<void> {
  const { rows } = await sql<{ now: Date; again: Date }>`
    select now() as now, created_at + interval '1 day' as again from orders
    where user_id = ${userId} and extends is not null and paid_at is null and gateway_order_id is not null
      and created_at > now() - interval '1 day'
    order by created_at desc offset ${unpaidExtensions - 1} limit 1`.execute(tx);
  const [fifth] = rows;
  if (fifth)
    throw refused(fifth.now, fifth.again, `${unpaidExtensions} orders for more hours were opened today and not paid.`);
}

async function checkGpus(tx: Tx, { caps }: PaymentsDeps, userId: string, gpuCount: number): Promise<void> {
  const { rows } = await sql<{ gpus: number }>`
    select count(*) as gpus from gpu_leases l join environments e on e.id = l.holder_id
    where l.holder_kind = 'environment' and l.released_at is null and e.user_id = ${userId}`.execute(tx);
  const gpus = rows[0]?.gpus ?? 0;
  if (gpus + gpuCount <= caps.gpusPerUser) return;
  throw new AppError(
    "too_many_gpus",
    `You have ${gpus} of ${plural(caps.gpusPerUser, await unitWord(tx))} in use: ${gpuCount} more are too many. Stop or terminate an environment first.`,
  );
}

/**
 * Refuses a container type that no reachable host of sufficient size can run (G101). A type that is being prepared is sold:
 * the launch waits for it.
 */
async function checkTypeAvailable(tx: Tx, { container }: Wanted): Promise<void> {
  const { rows: hosts } = await sql<{ state: string }>`
    select state from host_images join hosts on hosts.id = host_id
    where container_type = ${container.container_type} and is_open and ${container.gpu_count} <= ${mostGpus}`.execute(
    tx,
  );
  if (hosts.length === 0 || hosts.some(({ state }) => state !== "unavailable")) return;
  throw new AppError("not_prepared", notOfferedYet);
}

function tooMany(message: string, retryAfterSeconds: number): AppError {
  return new AppError("rate_limited", message, { retryAfterSeconds });
}

/** An unpaid order of the last day, and how long it holds its GPUs. */
interface Unpaid {
  readonly gpuMinutes: number;
  /** A day after the end of its hold: from then on it no longer counts against the limit. */
  readonly forgottenAt: Date;
}

interface Account {
  readonly now: Date;
  /** Free GPUs, for an account that has never paid; null: it has paid. */
  readonly freeGpuCount: number | null;
  /** Unpaid orders of the last day, since the last paid one. */
  readonly unpaidCount: number;
  /** End of the running hold of an earlier unpaid order; null without one. */
  readonly firstHoldUntil: Date | null;
  /** GPU-minutes that may be held unpaid within a day. */
  readonly mostGpuMinutes: number;
}

/**
 * Returns the end of an unpaid order's hold (G112), without the grace. A replacement order keeps the end of the first one's
 * hold; from the third unpaid order on holds are short. Throws `too_many_gpus`, or `rate_limited` with the time of the next
 * possible order, so that nobody blocks GPUs without paying.
 */
async function unpaidHoldEnd(tx: Tx, deps: PaymentsDeps, userId: string, gpuCount: number): Promise<Date> {
  const account = await readAccount(tx, userId);
  const { now, unpaidCount, firstHoldUntil, freeGpuCount: free } = account;
  if (free !== null) await checkShare(tx, deps, userId, gpuCount, free);
  const minutes = unpaidCount < 2 ? holdMinutes : shortHoldMinutes;
  const longest = minutesAfter(now, minutes);
  const until = firstHoldUntil && firstHoldUntil < longest ? firstHoldUntil : longest;
  // Less than a minute is too short to pay.
  if (until < minutesAfter(now, 1))
    throw refused(
      now,
      until,
      `Your ${await unitWord(tx)}s are kept for 15 minutes at a time, and another order does not begin them anew.`,
    );
  await checkMinutes(tx, userId, account, gpuCount * ((until.getTime() - now.getTime()) / 60_000 + graceMinutes));
  return until;
}

async function readAccount(tx: Tx, userId: string): Promise<Account> {
  const { rows } = await sql<Account>`
    with paid as (select max(created_at) as at from orders where user_id = ${userId} and paid_at is not null and gateway <> 'credit')
    select now() as now, case when paid.at is null then ${freeGpuCount} end as "freeGpuCount",
      count(o.id) filter (where o.created_at > coalesce(paid.at, '-infinity') and gateway_order_id is not null) as "unpaidCount",
      max(o.hold_until) filter (where o.created_at > coalesce(paid.at, '-infinity') and o.hold_until > now()) as "firstHoldUntil",
      (select least(${unpaidGpuMinutes}, 60 * count(*))::int from gpus join hosts on hosts.id = host_id where removed_at is null) as "mostGpuMinutes"
    from paid left join orders o on o.user_id = ${userId} and o.paid_at is null and o.extends is null
      and o.created_at > now() - interval '1 day' group by paid.at`.execute(tx);
  return rows[0] as Account;
}

/** Limits an account that has never paid to a share of the free GPUs, unless it holds a reservation of the queue. */
async function checkShare(
  tx: Tx,
  { caps }: PaymentsDeps,
  userId: string,
  gpuCount: number,
  free: number,
): Promise<void> {
  const most = Math.max(1, Math.floor(free * caps.newcomerShare));
  if (gpuCount <= most || gpuCount > free || (await hasReservation(tx, userId, gpuCount))) return;
  throw new AppError(
    "too_many_gpus",
    `${free} ${await unitWord(tx)}s are free, and ${most} of them can be kept for an account that has not paid anything yet. Take ${most} or fewer; after your first payment you can order all that are free.`,
  );
}

async function checkMinutes(tx: Tx, userId: string, { now, mostGpuMinutes }: Account, more: number): Promise<void> {
  const { rows } = await sql<Unpaid>`
    select gpu_count * extract(epoch from ended.at - created_at)::float8 / 60 as "gpuMinutes", ended.at + interval '1 day' as "forgottenAt"
    from orders cross join lateral (
      select least(coalesce(closed_at, now()), hold_until + make_interval(mins => ${graceMinutes})) as at) ended
    where user_id = ${userId} and paid_at is null and extends is null and ended.at > now() - interval '1 day'
    order by ended.at`.execute(tx);
  let held = rows.reduce((sum, { gpuMinutes }) => sum + gpuMinutes, more);
  let again = now;
  for (const { gpuMinutes, forgottenAt } of rows) {
    if (held <= mostGpuMinutes) break;
    held -= gpuMinutes;
    again = forgottenAt;
  }
  if (again > now)
    throw refused(
      now,
      again,
      `Orders of yours that were not paid kept ${await unitWord(tx)}s long enough today: take fewer, or wait.`,
    );
}

function refused(now: Date, again: Date, why: string): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil((again.getTime() - now.getTime()) / 1000));
  return new AppError("rate_limited", `${why} You can order again at ${instant(again)}.`, {
    retryAfterSeconds,
    money: "nothing_taken",
  });
}
