import { join } from "node:path";
import { type Database, openDatabase } from "../server/src/database/database.ts";
import { embeddedConnection } from "../server/src/database/embedded/embedded.ts";
import { newId } from "../server/src/database/new-id.ts";
import { commandLogger } from "../server/src/logging/create-logger.ts";
import type { Customer } from "./customer.ts";

/** A started product's data folder. */
interface DataOwner {
  readonly dataDir: string;
}

/** Opens the database of a running product, for data that would take hours to rent. The caller closes it. */
export function openProductDatabase({ dataDir }: DataOwner): Promise<Database> {
  return openDatabase(embeddedConnection(join(dataDir, "database")), commandLogger);
}

const types = ["jupyter", "pytorch", "tensorflow"] as const;
const states = ["active", "stopped", "paused", "terminated", "terminated"] as const;

/**
 * Inserts environments of the past half year in every lasting status, each with its paid order, payment and session, but
 * without a container: they are due in a month, so that the reconciler skips them.
 */
export async function seedHistory(
  product: DataOwner,
  { userId }: Customer,
  { count, prefix }: { count: number; prefix: string },
): Promise<void> {
  const { db, close } = await openProductDatabase(product);
  try {
    const { id: hostId } = await db.selectFrom("hosts").select("id").executeTakeFirstOrThrow();
    const rows = Array.from({ length: count }, (_, index) => rowOf(index, { userId, hostId, prefix }));
    await db.transaction().execute(async (tx) => {
      await tx
        .insertInto("orders")
        .values(rows.map(({ order }) => order))
        .execute();
      await tx
        .insertInto("payments")
        .values(rows.map(({ payment }) => payment))
        .execute();
      await tx
        .insertInto("environments")
        .values(rows.map(({ environment }) => environment))
        .execute();
      await tx
        .insertInto("sessions")
        .values(rows.map(({ session }) => session))
        .execute();
    });
  } finally {
    await close();
  }
}

const hourMs = 3_600_000;

function rowOf(index: number, { userId, hostId, prefix }: { userId: string; hostId: string; prefix: string }) {
  const type = types[index % types.length] ?? "jupyter";
  const status = states[index % states.length] ?? "terminated";
  const subdomain = `${prefix}-${String(index).padStart(3, "0")}`;
  const at = new Date(Date.now() - index * 20 * hourMs - hourMs);
  const end = new Date(at.getTime() + 3 * hourMs);
  const inAMonth = new Date(Date.now() + 720 * hourMs);
  const [orderId, environmentId] = [newId(), newId()];
  const shared = { user_id: userId, container_type: type, subdomain, gpu_count: 1, duration_hours: 720 };
  const ended = status === "terminated";
  return {
    order: {
      ...shared,
      id: orderId,
      status: "fulfilled" as const,
      usd_minor: 15_000,
      amount_minor: 15_000,
      currency: "USD" as const,
      inr_paise_per_usd: 8822,
      gateway: "embedded",
      mode: "embedded" as const,
      gateway_order_id: `order_${orderId}`,
      request_hash: "",
      created_at: at,
      hold_until: at,
      watch_until: at,
      paid_at: at,
      usd_net_minor: 15_000,
      hours: 720,
    },
    payment: {
      id: newId(),
      order_id: orderId,
      user_id: userId,
      gateway: "embedded",
      gateway_payment_id: `pay_${orderId}`,
      status: "captured" as const,
      settles_order: true,
      amount_minor: 15_000,
      currency: "USD" as const,
      created_at: at,
    },
    environment: {
      ...shared,
      id: environmentId,
      order_id: orderId,
      host_id: hostId,
      home: `${userId}-${subdomain}`,
      desired: status === "active" ? ("running" as const) : status,
      status,
      secret: newId(),
      requested_at: at,
      give_up_at: at,
      created_at: at,
      expires_at: status === "stopped" ? null : ended ? end : inAMonth,
      banked_seconds: status === "stopped" ? 3600 : 0,
      terminated_at: ended ? end : null,
      ended_reason: ended ? ("expired" as const) : null,
      due_at: inAMonth,
    },
    session: {
      ...{ id: newId(), environment_id: environmentId, user_id: userId, container_type: type },
      ...{ opened_at: at, closed_at: end, reason: "stopped" },
    },
  };
}
