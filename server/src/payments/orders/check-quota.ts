import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Tx } from "../../database/database.ts";
import type { User } from "../../http/request-user.ts";
import { checkAccountHold } from "../disputes/account-holds.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import type { OrderRequest } from "./price-request.ts";

/** What one user may have and ask for at once (G52, G89). */
export async function checkLimits(
  tx: Tx,
  deps: PaymentsDeps,
  userId: string,
  { container: { gpu_count: gpuCount }, extends: extended }: OrderRequest,
): Promise<void> {
  const { rows } = await sql<{ launches: number; orders: number }>`
    select (select count(*) from environments where user_id = ${userId} and status = 'pending') as launches,
           (select count(*) from orders where user_id = ${userId} and created_at > now() - interval '1 minute') as orders`.execute(
    tx,
  );
  const { launches, orders } = rows[0] ?? { launches: 0, orders: 0 };
  if (orders >= deps.caps.ordersPerMinute) throw tooMany("Too many orders. Try again in a minute.", 60);
  if (extended) return;
  await checkGpus(tx, deps, userId, gpuCount);
  if (launches >= deps.caps.launchesPerUser)
    throw tooMany(`${launches} of your environments are still starting. Wait until one is ready.`, 30);
}

/** Whether so many GPUs could be ordered by this user at all: asked before they wait for them. */
export async function checkQuota(tx: Tx, deps: PaymentsDeps, userId: string, gpuCount: number): Promise<void> {
  await checkAccountHold(tx, userId);
  await checkGpus(tx, deps, userId, gpuCount);
}

async function checkGpus(tx: Tx, { caps }: PaymentsDeps, userId: string, gpuCount: number): Promise<void> {
  const { rows } = await sql<{ gpus: number }>`
    select count(*) as gpus from gpu_leases l join environments e on e.id = l.holder_id
    where l.holder_kind = 'environment' and l.released_at is null and e.user_id = ${userId}`.execute(tx);
  const gpus = rows[0]?.gpus ?? 0;
  if (gpus + gpuCount <= caps.gpusPerUser) return;
  throw new AppError(
    "too_many_gpus",
    `You have ${gpus} of ${caps.gpusPerUser} GPUs in use: ${gpuCount} more are too many. Stop or terminate an environment first.`,
  );
}

/** Real money is taken only from who can be written to (G52). */
export function checkEmailVerified({ provider }: PaymentsDeps, { email, emailVerified }: User): void {
  if (provider.mode !== "live" || emailVerified) return;
  throw new AppError("email_unverified", `Confirm your email first: we send a link to ${email}.`);
}

/**
 * A type that no host that answers and is large enough can run, now or soon, is not sold (G101). One that is being prepared
 * is: the launch waits for it.
 */
export async function checkTypeAvailable(tx: Tx, { container }: OrderRequest): Promise<void> {
  const { rows: hosts } = await sql<{ state: string; message: string }>`
    select state, message from host_images join hosts on hosts.id = host_id
    where container_type = ${container.container_type} and is_open and ${container.gpu_count} <=
      (select count(*) from gpus where gpus.host_id = hosts.id and quarantined_at is null)`.execute(tx);
  const [first] = hosts;
  if (!first || hosts.some(({ state }) => state !== "unavailable")) return;
  throw new AppError("not_prepared", first.message || `${container.container_type} is not prepared on this machine`);
}

function tooMany(message: string, retryAfterSeconds: number): AppError {
  return new AppError("rate_limited", message, { retryAfterSeconds });
}
