import { sql } from "kysely";
import { onTestFinished } from "vitest";
import { newId } from "../../database/new-id.ts";
import { testDatabase } from "../../database/testing.ts";
import { type HoldRequest, renewHold } from "../allocation/hold.ts";
import { addHosts, addOrder, inMs } from "./setup-environments.ts";

export async function setupHolds(hosts: Record<string, number>) {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  await addHosts(db, hosts);
  const ask = (request: Partial<HoldRequest> = {}) =>
    db.transaction().execute((tx) =>
      renewHold(tx, {
        orderId: newId(),
        userId: "ann",
        subdomain: `n${newId()}`,
        gpuCount: 1,
        holdUntil: inMs(900_000),
        ...request,
      }),
    );
  const lapse = (minutes = 3) =>
    sql`update gpu_leases set hold_until = now() - make_interval(mins => ${minutes}) where hold_until is not null`
      .execute(db)
      .then(() =>
        sql`update subdomain_claims set held_until = now() - make_interval(mins => ${minutes}) where held_until is not null`.execute(
          db,
        ),
      );
  /** How far what is ordered below has been prepared, by host. */
  const prepared = (states: Record<string, string>) =>
    sql`insert into host_images (host_id, container_type, state)
      select key, 'jupyter', value from jsonb_each_text(${JSON.stringify(states)}::jsonb)`.execute(db);
  /** As `ask`, for an order that says what it is for. */
  const order = async (userId = "ann") => {
    const subdomain = `n${newId()}`;
    return await ask({ orderId: await addOrder(db, { userId, subdomain, gpuCount: 1, durationHours: 1 }), userId });
  };
  const waiting = () =>
    sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      .execute(db)
      .then(({ rows }) => rows.length);
  const open = () => db.selectFrom("gpu_leases").where("released_at", "is", null).selectAll().execute();
  return { db, ask, order, prepared, waiting, lapse, open };
}
