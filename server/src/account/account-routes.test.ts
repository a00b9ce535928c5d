import { sql } from "kysely";
import { expect, test } from "vitest";
import { newPublicKey } from "./ssh-keys/testing/public-keys.ts";
import { measurement, setup, tables, tablesOf } from "./testing/setup-account.ts";

test("every table with a user id is listed here with its end", async () => {
  const { db } = await setup();
  expect(await tablesOf(db)).toEqual(Object.keys(tables).toSorted());
});

test("the export has every table, and no secret in any form", async () => {
  const { ada, db, must, rent, call } = await setup();
  const rented = await rent(ada, { subdomain: "adas-lab" });
  await must("PUT", `/settings/${ada.id}/flags`, ada.token, { billingAlerts: false });
  const ticket = { issueType: "other", description: "Where is it?", userEmail: ada.email, userId: ada.id };
  await must("POST", "/support/tickets", ada.token, ticket);
  await must("POST", "/auth/reset-password", undefined, { email: ada.email });
  await sql`insert into grants (id, user_id, environment_id) values ('grant', ${ada.id}, ${rented.environment_id})`.execute(
    db,
  );
  await sql`insert into time_credits (id, user_id, order_id, gpu_hours, reason) select 'credit', user_id, id, 2, 'x' from orders`.execute(
    db,
  );
  await db
    .insertInto("samples")
    .values(measurement(rented.environment_id, { home_mb: 3, cpu_cores: 0.5 }))
    .execute();
  await db
    .insertInto("gpu_samples")
    .values(measurement(rented.environment_id, { gpu_id: "gpu", use_percent: 61 }))
    .execute();
  const shared = await must("POST", `/environments/${rented.environment_id}/share`, ada.token, { term: "1h" });
  const ssh_key = { name: "Laptop", public_key: newPublicKey() };
  await must("POST", `/settings/${ada.id}/ssh-keys`, ada.token, ssh_key);
  const answer = await call("GET", `/profile/${ada.id}/export`, ada.token);
  const document = answer.json();
  expect(document).toMatchObject({
    status: "success",
    profile: { user_id: ada.id, email: ada.email, name: "Ada Lovelace", phone: "" },
    flags: { billingAlerts: false },
    environments: [{ subdomain: "adas-lab", status: "active" }],
    sessions: [{ environment_id: rented.environment_id, closed_at: null }],
    files: [{ subdomain: "adas-lab", kept_until: null }],
    orders: [{ subdomain: "adas-lab", status: "fulfilled", currency: "USD" }],
    payments: [{ gateway_payment_id: rented.payment_data.razorpay_payment_id, card_last4: "4444" }],
    time_credits: [{ gpu_hours: 2 }],
    support_tickets: [{ description: "Where is it?" }],
    sign_ins: [{ ended_at: null }],
    environment_sign_ins: [{ environment_id: rented.environment_id }],
    measurements: [{ environment_id: rented.environment_id, cpu_cores: 0.5 }],
    share_links: [{ environment_id: rented.environment_id, views: 0 }],
    ssh_keys: [{ name: "Laptop", type: "ssh-ed25519", last_used_at: null }],
    gpu_measurements: [{ gpu_id: "gpu", use_percent: 61 }],
  });
  for (const { exported } of Object.values(tables)) if (exported) expect(Object.keys(document)).toContain(exported);
  expect(document.notifications.length).toBeGreaterThan(3);
  expect(document.mails.map(({ recipient }: { recipient: string }) => recipient)).toContain(ada.email);
  expect(document.launch_stages.length).toBeGreaterThan(5);
  const { secret, run_token } = await db.selectFrom("environments").selectAll().executeTakeFirstOrThrow();
  const { password_hash } = await db.selectFrom("identity_user").selectAll().executeTakeFirstOrThrow();
  const { body_text } = await db
    .selectFrom("mails")
    .where("subject", "like", "%assword%")
    .selectAll()
    .executeTakeFirstOrThrow();
  const code = /oobCode=([\w-]+)/.exec(body_text)?.[1];
  const key = new URL(shared.url).searchParams.get("key");
  for (const value of [key, secret, run_token, password_hash, code, ada.token, ada.refreshToken])
    expect(answer.body).not.toContain(String(value));
});
