import { type ContainerRequest, hoursOfCredit, planOf, plural, subdomainProblem } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { hold } from "../../environments/allocation/hold.ts";
import { launch } from "../../environments/allocation/launch.ts";
import { unitWord } from "../../environments/leases/read-unit.ts";
import type { User } from "../../http/request-user.ts";
import { lockUserForUpdate } from "../../identity/local/users.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import { deliverMinutes, holdMinutes, minutesAfter } from "../settlement/deadlines.ts";
import { type Created, waitForEnvironment } from "./confirm-payment.ts";
import { supersede } from "./end-unpaid-order.ts";
import { checkMayPay, findUnpaid, offerOf } from "./place-order.ts";
import { checkSold, type Offer, requestHash } from "./price-request.ts";
import { checkMayOrder } from "./reserve-order.ts";

/** The longest that one order says: more hours of the credit are added at the delivery, like any other credit. */
const longestHours = 168;

/**
 * Starts an environment with hours of vouchers that were made so (G332): an order of 0 that is paid at once, in one
 * transaction, without the provider. It takes all of them. The same request again finds the same environment. Throws `AppError`.
 */
export async function launchWithCredit(
  deps: PaymentsDeps,
  user: User,
  container: ContainerRequest,
  signal: AbortSignal,
): Promise<Created> {
  await checkMayPay(deps, user);
  checkContainer(container, user.id, await offerOf(deps));
  const order = await launchOnce(deps, container);
  return waitForEnvironment(deps, user.id, order, signal);
}

/** An unpaid order of the account gives way, as it does to another order: it may hold this very name and the last GPUs. */
async function launchOnce(deps: PaymentsDeps, container: ContainerRequest): Promise<OrderRow> {
  const unpaid = await findUnpaid(deps, container.user_id);
  if (unpaid?.status === "open") await supersede(deps, unpaid);
  return await deps.db.transaction().execute(async (tx) => {
    // A deletion or suspension of the account happens before it, or ends this environment too.
    await lockUserForUpdate(tx, container.user_id);
    return (await launchedBefore(tx, container)) ?? (await launchNow(tx, deps, container));
  });
}

function checkContainer(container: ContainerRequest, userId: string, offer: Offer): void {
  if (container.user_id !== userId) throw new AppError("forbidden", "This order is for another user");
  const problem = subdomainProblem(container.subdomain);
  if (problem) throw new AppError("invalid_request", problem);
  const { container_type, gpu_count, duration } = container;
  checkSold(offer, { container_type, gpu_count, duration });
  if (planOf(duration) === "monthly")
    throw new AppError("voucher_refused", "A monthly plan is paid: choose hours to use your credit alone");
}

/** The order of the same request, whose reply may have been lost. */
function launchedBefore(tx: Tx, container: ContainerRequest): Promise<OrderRow | undefined> {
  return tx
    .selectFrom("orders")
    .selectAll("orders")
    .innerJoin("environments", "environments.order_id", "orders.id")
    .where("orders.user_id", "=", container.user_id)
    .where("orders.gateway", "=", "credit")
    .where("orders.request_hash", "=", requestHash(container, "USD", 0))
    .where("orders.status", "in", ["paid", "fulfilled"])
    .where("environments.status", "<>", "terminated")
    .executeTakeFirst();
}

async function launchNow(tx: Tx, deps: PaymentsDeps, container: ContainerRequest): Promise<OrderRow> {
  const { user_id: userId, gpu_count: gpuCount, subdomain, container_type: containerType } = container;
  await checkMayOrder(tx, deps, userId, { container });
  const { rows } = await sql<{ now: Date; gpu_hours: number }>`
    select now() as now, coalesce(sum(gpu_hours), 0) as gpu_hours from granted_credits
    where user_id = ${userId} and ${openAlone}`.execute(tx);
  const { now = new Date(), gpu_hours = 0 } = rows[0] ?? {};
  const covered = hoursOfCredit(gpu_hours, gpuCount);
  if (covered < container.duration) throw notCovered(covered, plural(gpuCount, await unitWord(tx)));
  const durationHours = Math.min(longestHours, Math.floor(covered));
  const order = await insertOrder(tx, deps, container, durationHours, now);
  const holdUntil = minutesAfter(now, holdMinutes);
  const held = await hold(tx, { orderId: order.id, userId, subdomain, gpuCount, holdUntil });
  if (!held.ok) throw new AppError(held.code, held.message);
  await launch(tx, {
    ...{ orderId: order.id, userId, containerType, subdomain, gpuCount, durationHours },
    ...{ orderedAt: now, paidAt: now, giveUpAt: minutesAfter(now, deps.giveUpAfterSeconds / 60) },
  });
  if ((await takeCredits(tx, order)) !== gpu_hours)
    throw new AppError("unavailable", "Your credit has just changed. Try again.", { retryAfterSeconds: 1 });
  deps.log.info({ event: "order.paid", orderId: order.id }, "an order is covered by a credit");
  return order;
}

const openAlone = sql`alone and used_by_order is null and revoked_at is null`;

async function takeCredits(tx: Tx, { id, user_id }: OrderRow): Promise<number> {
  const { rows } = await sql<{ gpu_hours: number }>`
    with taken as (update granted_credits set used_by_order = ${id} where user_id = ${user_id} and ${openAlone} returning gpu_hours)
    select coalesce(sum(gpu_hours), 0) as gpu_hours from taken`.execute(tx);
  return rows[0]?.gpu_hours ?? 0;
}

/** Its own id stands for the provider's, so that its page has an address. It is due only so that no rule calls it forgotten. */
function insertOrder(
  tx: Tx,
  { provider }: PaymentsDeps,
  container: ContainerRequest,
  hours: number,
  now: Date,
): Promise<OrderRow> {
  const id = newId();
  return tx
    .insertInto("orders")
    .values({
      ...{
        id,
        gateway_order_id: id,
        gateway: "credit",
        mode: provider.mode,
        status: "paid",
        user_id: container.user_id,
      },
      ...{ container_type: container.container_type, subdomain: container.subdomain },
      ...{ gpu_count: container.gpu_count, duration_hours: hours, hours },
      ...{ usd_minor: 0, amount_minor: 0, currency: "USD", inr_paise_per_usd: 100 },
      request_hash: requestHash(container, "USD", 0),
      ...{ hold_until: now, watch_until: now, paid_at: now, deliver_by: minutesAfter(now, deliverMinutes) },
      due_at: minutesAfter(now, 24 * 60),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

function notCovered(covered: number, units: string): AppError {
  const most = Math.floor(covered);
  return new AppError(
    "voucher_refused",
    most === 0
      ? `You have no code whose hours start an environment with ${units} by themselves`
      : `Your code covers ${plural(most, "hour")} with ${units}: choose no more`,
  );
}
