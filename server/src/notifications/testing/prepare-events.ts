import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { setupEnvironments } from "../../environments/testing/setup-environments.ts";
import { localIdentity } from "../../identity/local/local-identity.ts";
import { settlePayment } from "../../payments/settlement/settle-payment.ts";
import { setup as setupMoney } from "../../payments/testing/setup.ts";
import { announcer } from "../announcer.ts";

export const announce = announcer({ appUrl: "https://berth.example", brandName: "Berth" });

/** An event on a database with the user; `again` repeats it. */
interface Happening {
  readonly db: Db;
  readonly again: () => Promise<unknown>;
}
export type Prepare = (flagOff: (db: Db, userId: string) => Promise<void>) => Promise<Happening>;

export interface Event {
  readonly name: string;
  readonly flag: "emailNotifications" | "billingAlerts" | "securityAlerts" | "always";
  readonly cause: RegExp;
  readonly title: RegExp;
  readonly body: RegExp;
  readonly link: string;
  readonly happen: Prepare;
}

/** An environment named my-lab of the user ada. */
export async function rented(flagOff: Parameters<Prepare>[0], durationHours = 48) {
  const world = await setupEnvironments({ announce });
  await flagOff(world.db, "ada");
  const id = await world.rent({ userId: "ada", subdomain: "my-lab", durationHours });
  return { ...world, id };
}

/** An active environment whose rows are changed before two passes of the reconciler. */
export const later =
  (change: ReturnType<typeof sql>, durationHours = 48): Prepare =>
  async (flagOff) => {
    const { db, id, reach, pass } = await rented(flagOff, durationHours);
    await reach(id, "active");
    await clear(db);
    await change.execute(db);
    await pass();
    return { db, again: pass };
  };

export const leave = (seconds: number) =>
  sql`update environments set expires_at = now() + make_interval(secs => ${seconds})`;

/** Sets an idle stop after an hour, and the time since the last activity. */
export const idleFor = (minutes: number) =>
  sql`with idle as (update environments set idle_minutes = 60)
    update activity set last_busy_at = now() - make_interval(mins => ${minutes})`;

/** Waits for the end of work, of which nothing was found for so long. */
export const quietFor = (seconds: number, mode: "notify" | "stop") =>
  sql`update environments set done_notice = ${mode}, done_ran = true,
    done_quiet_since = now() - make_interval(secs => ${seconds})`;

/** Deletes the notices of the preparation. */
export async function clear(db: Db): Promise<void> {
  await db.deleteFrom("notifications").execute();
  await db.deleteFrom("mails").execute();
}

export async function paid(flagOff: Parameters<Prepare>[0]) {
  const world = await setupMoney({ announce });
  const { db, order, pay, provider, payments, rowOf } = world;
  await flagOff(db, "ada");
  const { id } = (await order("ada", { subdomain: "my-lab", gpu_count: 4 })).body;
  const paymentId = (await pay(id)).body.razorpay_payment_id;
  await settlePayment(payments, await provider.payment(paymentId));
  const payment = await db.selectFrom("payments").selectAll().executeTakeFirstOrThrow();
  return { ...world, paymentId, payment, orderId: (await rowOf(id)).id };
}

export async function account(flagOff: Parameters<Prepare>[0]) {
  const { db } = await setupMoney({ announce });
  const limits = { signInsPerMinute: 100 };
  const identity = localIdentity({ db, secret: Buffer.alloc(32), appUrl: "http://localhost", limits, announce });
  const { uid } = await identity.createUser({ email: "ada@uni.example", password: "First password 1!" });
  await flagOff(db, uid);
  return { db, identity, uid };
}

export const password: (reset: boolean) => Prepare = (reset) => async (flagOff) => {
  const { db, identity, uid } = await account(flagOff);
  const code = await identity.createActionCode("PASSWORD_RESET", "ada@uni.example");
  if (reset) await identity.resetPassword(code ?? "", "Second password 2!");
  else await identity.updateUser(uid, { password: "Second password 2!" });
  // The used link changes nothing and notifies nobody.
  return { db, again: () => identity.resetPassword(code ?? "", "Third password 3!").catch(() => undefined) };
};
