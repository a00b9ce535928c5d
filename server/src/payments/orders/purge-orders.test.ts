import { sql } from "kysely";
import { expect, test } from "vitest";
import { purges } from "../../roles/start-purging.ts";
import { setup } from "../testing/setup.ts";

test("unpaid orders are deleted 30 days after their last poll, webhooks 30 days after processing; money records never", async () => {
  const { db, order, clear, pay, create, rowOf, runReconciler } = await setup();
  runReconciler();
  const unpaid = async (user: string, subdomain: string) => {
    const { id } = (await order(user, { subdomain })).body;
    expect((await clear(user, id)).body.cleared).toBe(true);
    return (await rowOf(id)).id;
  };
  const [old, recent] = [await unpaid("ada", "old-lab"), await unpaid("bob", "recent-lab")];
  const late = await order("eve", { subdomain: "late-lab" });
  await clear("eve", late.body.id);
  const { body: proof } = await pay(late.body.id);
  await create("eve", proof, { subdomain: "late-lab" });
  const paid = (await rowOf(late.body.id)).id;
  // A cancelled order with a payment.
  const failing = await order("kay", { subdomain: "failing-lab" });
  await pay(failing.body.id, "5305620000050001");
  await clear("kay", failing.body.id);
  const tried = (await rowOf(failing.body.id)).id;
  await sql`update orders set watch_until = now() - interval '31 days'`.execute(db);
  await sql`update orders set watch_until = now() - interval '29 days' where id = ${recent}`.execute(db);
  await sql`
    insert into payments (id, order_id, user_id, gateway, gateway_payment_id, status, amount_minor, currency, created_at)
    values ('failed', ${tried}, 'kay', 'embedded', 'pay_failed', 'failed', 20, 'USD', now() - interval '31 days')
    on conflict do nothing`.execute(db);
  const event = (id: string, processed: string | null) => sql`
    insert into gateway_events (gateway, event_id, event, body, processed_at, due_at)
    values ('embedded', ${id}, 'payment.captured', '', now() - ${processed}::interval, ${processed ? null : new Date()})`;
  for (const [id, processed] of [
    ["old", "31 days"],
    ["recent", "29 days"],
    ["waiting", null],
  ] as const)
    await event(id, processed).execute(db);
  const money = async () =>
    Promise.all(
      (["payments", "refunds", "journal", "journal_lines", "receipts"] as const).map(
        async (table) => (await db.selectFrom(table).selectAll().execute()).length,
      ),
    );
  const before = await money();
  expect(before[0]).toBeGreaterThan(0);

  for (const purge of purges) await purge(db);

  const ids = (await db.selectFrom("orders").select("id").execute()).map(({ id }) => id);
  expect(ids).not.toContain(old);
  expect(ids.sort()).toEqual([recent, paid, tried].sort());
  expect((await sql<{ event_id: string }>`select event_id from gateway_events order by 1`.execute(db)).rows).toEqual([
    { event_id: "recent" },
    { event_id: "waiting" },
  ]);
  expect(await money()).toEqual(before);
});
