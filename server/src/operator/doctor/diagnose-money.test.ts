import { sql } from "kysely";
import { expect, test } from "vitest";
import { setupDoctor } from "../testing/setup-doctor.ts";

test("an order paid long ago and never delivered, and one that is no longer polled, are stuck", async () => {
  const { db, ask, pay } = await setupDoctor();
  const [late, forgotten, fresh] = [await pay(), await pay(), await pay()];
  await sql`update orders set deliver_by = now() - interval '1 hour' where id = ${late}`.execute(db);
  await sql`update orders set due_at = now() - interval '2 hours' where id = ${forgotten}`.execute(db);
  const { found, code } = await ask();
  const stuck = found["Orders that are stuck"];
  expect(stuck).toEqual([
    expect.stringMatching(new RegExp(`^${late} paid since .* UTC and not delivered`)),
    expect.stringMatching(new RegExp(`^${forgotten} paid and not polled since .* UTC`)),
  ]);
  expect(stuck?.join()).not.toContain(fresh);
  expect(code).toBe(1);
});

test("a refund whose provider never answers, one queued for an hour and one that never arrives are stuck; a new one and one held back by a dispute are not", async () => {
  const { db, ask, pay } = await setupDoctor();
  const refund = async (id: string, set: string) => {
    await sql`insert into refunds (id, payment_id, amount_minor, currency, reason, status, due_at)
      values (${id}, ${await pay()}, 20, 'USD', 'hardware', 'queued', now())`.execute(db);
    await sql.raw(`update refunds set ${set} where id = '${id}'`).execute(db);
  };
  await refund("silent", "attempts = 4, last_error = 'fetch failed', created_at = now() - interval '5 minutes'");
  await refund("waits", "created_at = now() - interval '2 hours'");
  await refund("lost", "status = 'sent', created_at = now() - interval '11 days'");
  await refund("new", "attempts = 1");
  await refund("held", "created_at = now() - interval '3 days'");
  await sql`insert into disputes (id, gateway, gateway_dispute_id, payment_id, user_id, status, phase, amount_minor, currency, created_at)
    select 'd', 'embedded', 'disp', payment_id, 'ada', 'open', 'chargeback', 20, 'USD', now() from refunds where id = 'held'`.execute(
    db,
  );
  const { found } = await ask();
  expect(found["Refunds that failed or are stuck"]).toEqual([
    expect.stringMatching(/^lost pay_\w+ \$0.20 hardware has not arrived, 11d 0h old, 0 tries$/),
    expect.stringMatching(/^waits pay_\w+ \$0.20 hardware is not sent, 2h 0m old, 0 tries$/),
    expect.stringMatching(/^silent pay_\w+ \$0.20 hardware is not sent, 5m old, 4 tries: fetch failed$/),
  ]);
});

test("a provider that did not answer three times is a finding, until it answers; orders of other keys are none", async () => {
  const { db, ask, pay } = await setupDoctor();
  const [asked, old] = [await pay(), await pay()];
  await sql`update orders set attempts = 3, last_error = 'the payment provider does not answer', due_at = now() + interval '8 s'`.execute(
    db,
  );
  await sql`update orders set due_at = now() - interval '9 days' where id = ${old}`.execute(db);
  const look = async () => (await ask()).found["Payment provider that does not answer"];
  expect(await look()).toEqual(["1 order could not be asked about: the payment provider does not answer"]);
  await sql`update orders set attempts = 0, last_error = null where id = ${asked}`.execute(db);
  expect(await look()).toBeUndefined();
});
