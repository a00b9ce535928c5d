import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Tx } from "../../database/database.ts";
import { countFree } from "../../environments/leases/gpu-leases.ts";
import { instant } from "../../environments/notice.ts";
import { hasReservation } from "../../environments/queue/serve-queue.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import {
  graceMinutes,
  holdMinutes,
  minutesAfter,
  shortHoldMinutes,
  unpaidGpuMinutes,
} from "../settlement/deadlines.ts";

/** An order of the last day that nobody has paid, and how long it has held its GPUs, or will. */
interface Unpaid {
  readonly gpuMinutes: number;
  /** When it leaves the day that is counted. */
  readonly forgottenAt: Date;
}

interface Account {
  readonly now: Date;
  readonly hasPaid: boolean;
  /** Unpaid orders of the last day, since the last one that was paid. */
  readonly unpaidCount: number;
  /** The end of the hold that an earlier unpaid order of these minutes began; null: none is running. */
  readonly firstHoldUntil: Date | null;
  /** GPU-minutes that may be held unpaid within a day. */
  readonly mostGpuMinutes: number;
}

/**
 * Until when an order that nobody has paid yet holds its GPUs (G112), its grace not counted. A new name keeps the end of the
 * first hold; from the third unpaid order on a hold is short. Throws `too_many_gpus` or `rate_limited` with the time from which
 * it is possible again, so that nobody keeps from others what they do not pay for.
 */
export async function unpaidHoldEnd(tx: Tx, deps: PaymentsDeps, userId: string, gpuCount: number): Promise<Date> {
  const account = await readAccount(tx, userId);
  const { now, unpaidCount, firstHoldUntil } = account;
  if (!account.hasPaid) await checkShare(tx, deps, userId, gpuCount);
  const minutes = unpaidCount < 2 ? holdMinutes : shortHoldMinutes;
  const longest = minutesAfter(now, minutes);
  const until = firstHoldUntil && firstHoldUntil < longest ? firstHoldUntil : longest;
  // Less is no time to pay in.
  if (until < minutesAfter(now, 1))
    throw refused(
      now,
      until,
      "GPUs are kept for you for 15 minutes at a time, and another order does not begin them anew.",
    );
  await checkMinutes(tx, userId, account, gpuCount * ((until.getTime() - now.getTime()) / 60_000 + graceMinutes));
  return until;
}

async function readAccount(tx: Tx, userId: string): Promise<Account> {
  const { rows } = await sql<Account>`
    with paid as (select max(created_at) as at from orders where user_id = ${userId} and paid_at is not null)
    select now() as now, paid.at is not null as "hasPaid",
      count(o.id) filter (where o.created_at > coalesce(paid.at, '-infinity') and gateway_order_id is not null) as "unpaidCount",
      max(o.hold_until) filter (where o.created_at > coalesce(paid.at, '-infinity') and o.hold_until > now()) as "firstHoldUntil",
      (select least(${unpaidGpuMinutes}, 60 * count(*))::int from gpus join hosts on hosts.id = host_id where removed_at is null) as "mostGpuMinutes"
    from paid left join orders o on o.user_id = ${userId} and o.paid_at is null and o.extends is null
      and o.created_at > now() - interval '1 day' group by paid.at`.execute(tx);
  return rows[0] as Account;
}

/** Who never paid leaves half of what is free to others; whose turn it is in the line has waited for all of it. */
async function checkShare(tx: Tx, { caps }: PaymentsDeps, userId: string, gpuCount: number): Promise<void> {
  const free = await countFree(tx);
  const most = Math.max(1, Math.floor(free * caps.newcomerShare));
  if (gpuCount <= most || gpuCount > free || (await hasReservation(tx, userId, gpuCount))) return;
  throw new AppError(
    "too_many_gpus",
    `${free} GPUs are free, and ${most} of them can be kept for an account that has not paid anything yet. Take ${most} or fewer; after your first payment you can order all that are free.`,
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
      "GPUs were kept long enough today for orders of yours that were not paid: take fewer, or wait.",
    );
}

function refused(now: Date, again: Date, why: string): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil((again.getTime() - now.getTime()) / 1000));
  return new AppError("rate_limited", `${why} You can order again at ${instant(again)}.`, {
    retryAfterSeconds,
    money: "nothing_taken",
  });
}
