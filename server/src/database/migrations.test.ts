import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../logging/create-logger.ts";
import { openDatabase } from "./database.ts";
import { databaseBefore } from "./testing.ts";
import { fetchDue, workQueue } from "./work-queue.ts";

const claim = "'11111111-1111-4111-8111-111111111111'";

test("0035: every row of the eight queues keeps its due time, and loses its old lease", async () => {
  const { client, connection } = await databaseBefore("0035");
  await client.query(`
    insert into hosts (id, kind) values ('host', 'fake');
    insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
        currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, hold_until, watch_until, paid_at,
        next_check_at, claim, attempts) values
      ('held', 'ada', 'open', 'jupyter', 'lab', 1, 1, 20, 20, 'USD', 8822, 'embedded', 'embedded', 'o1', '', now(), now(), null,
        '2026-11-01T00:00:30Z', ${claim}, 3),
      ('paid', 'ada', 'paid', 'jupyter', 'lab', 1, 1, 20, 20, 'USD', 8822, 'embedded', 'embedded', 'o2', '', now(), now(), now(),
        '2026-11-01T00:00:00Z', null, 0),
      ('done', 'ada', 'expired', 'jupyter', 'lab', 1, 1, 20, 20, 'USD', 8822, 'embedded', 'embedded', 'o3', '', now(), now(), null,
        null, null, 0);
    insert into payments (id, order_id, user_id, gateway, gateway_payment_id, status, settles_order, amount_minor, currency)
      values ('payment', 'paid', 'ada', 'embedded', 'p1', 'captured', true, 20, 'USD');
    insert into refunds (id, payment_id, amount_minor, currency, reason, status, processed_at, next_check_at, claim) values
      ('held', 'payment', 1, 'USD', 'hardware', 'queued', null, '2026-11-01T00:00:30Z', ${claim}),
      ('paid', 'payment', 1, 'USD', 'external', 'queued', null, '2026-11-01T00:00:00Z', null),
      ('done', 'payment', 1, 'USD', 'external', 'processed', now(), null, null);
    insert into gateway_events (gateway, event_id, event, body, processed_at, next_check_at, claim) values
      ('embedded', 'held', 'e', '', null, '2026-11-01T00:00:30Z', ${claim}),
      ('embedded', 'paid', 'e', '', null, '2026-11-01T00:00:00Z', null), ('embedded', 'done', 'e', '', now(), null, null);
    insert into gateway_sweeps (key_id, swept_until, next_at) values ('held', now(), '2026-11-01T00:00:30Z');
    insert into embedded_gateway_webhooks (id, body, next_try_at, attempts) values ('held', '', '2026-11-01T00:00:30Z', 1);
    insert into mails (id, cause, user_id, recipient, subject, body_text, body_html, useful_until, next_try_at, claim) values
      ('held', 'a', 'ada', 'a@b', '', '', '', now(), '2026-11-01T00:00:30Z', ${claim}),
      ('paid', 'b', 'ada', 'a@b', '', '', '', now(), '2026-11-01T00:00:00Z', null);
    insert into environments (id, order_id, user_id, container_type, subdomain, gpu_count, duration_hours, host_id, home, secret,
        give_up_at, due_at, claim)
      values ('held', 'paid', 'ada', 'jupyter', 'lab', 1, 1, 'host', 'h', '', now(), '2026-11-01T00:00:30Z', ${claim});
    insert into warm_runs (id, host_id, container_type, gpus, home, run_token, due_at, claim)
      values ('held', 'host', 'jupyter', '{0}', 'w', '', '2026-11-01T00:00:30Z', ${claim});`);
  await client.end();
  const { db, close } = await openDatabase(connection, silentLogger);
  onTestFinished(close);
  const names = ["orders", "refunds", "gateway_events", "mails"] as const;
  const held = { lease_token: null, lease_expires_at: null, due_at: new Date("2026-11-01T00:00:30Z") };
  for (const name of names) {
    const rows = await db
      .selectFrom(name)
      .select(["due_at", "lease_token", "lease_expires_at"])
      .orderBy("due_at")
      .execute();
    expect(rows.slice(0, 2), name).toEqual([{ ...held, due_at: new Date("2026-11-01T00:00:00Z") }, held]);
    expect(rows.slice(2), name).toEqual(name === "mails" ? [] : [{ ...held, due_at: null }]);
  }
  for (const name of ["gateway_sweeps", "embedded_gateway_webhooks", "environments", "warm_runs"] as const) {
    const rows = db.selectFrom(name).select(["due_at", "lease_token", "lease_expires_at"]);
    expect(await rows.execute(), name).toEqual([held]);
  }
  expect(await db.selectFrom("orders").select("attempts").where("id", "=", "held").execute()).toEqual([
    { attempts: 3 },
  ]);
  const due = await fetchDue(db, workQueue("orders", ["id"], 30), { where: sql`status = 'open'`, limit: 10 });
  expect(due.map(({ id }) => id)).toEqual(["held"]);
  const halfHeld = sql`update refunds set lease_token = gen_random_uuid() where id = 'paid'`.execute(db);
  await expect(halfHeld).rejects.toThrow("refunds_lease");
});
