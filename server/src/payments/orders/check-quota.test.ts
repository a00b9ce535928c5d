import { sql } from "kysely";
import { expect, test } from "vitest";
import { testApp } from "../../testing/test-app.ts";

test("nobody waits in line for what they could not order: more than their GPUs, or with orders stopped", async () => {
  const product = await testApp({ GPUS_PER_USER: "2" });
  product.deliver();
  const { db, call } = product;
  const [ada, bob] = [await product.signUp("Ada"), await product.signUp("Bob")];
  await product.rent(ada);
  const join = async ({ token }: typeof ada) => {
    const answer = await call("POST", "/environments/queue", token, { gpu_count: 1 });
    return [answer.statusCode, answer.json().code ?? answer.json().place.state];
  };
  expect(await join(ada)).toEqual([409, "too_many_gpus"]);
  expect(await join(bob)).toEqual([200, "held"]);
  await sql`update queue_entries set status = 'left', closed_at = now()`.execute(db);
  await sql`delete from gpu_leases where holder_kind = 'queue'`.execute(db);

  await sql`
    with lost as (
      insert into disputes (id, gateway, gateway_dispute_id, payment_id, user_id, status, phase, amount_minor, currency, lost_minor, created_at, closed_at)
      select 'lost', p.gateway, 'disp_1', p.id, ${bob.id}, 'lost', 'fraud', 40, 'USD', 40, now(), now() from payments p limit 1
      returning id, user_id)
    insert into account_holds (dispute_id, user_id) select id, user_id from lost`.execute(db);
  expect(await join(bob)).toEqual([403, "account_held"]);
  await sql`update account_holds set lifted_at = now()`.execute(db);
  expect(await join(bob)).toEqual([200, "held"]);
});
