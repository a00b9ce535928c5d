import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../database/database.ts";
import { startOrderPoller } from "../payments/orders/order-poller.ts";
import { startRefundSender } from "../payments/refunds/refund-sender.ts";
import { testApp } from "../testing/test-app.ts";

const password = "good password 1";

async function setup(fake: Record<string, number> = {}) {
  const product = await testApp({}, { fake });
  const stopDelivery = product.deliver();
  const ada = await product.signUp("Ada Lovelace");
  const status = async (id: string) =>
    (await product.db.selectFrom("environments").select("status").where("id", "=", id).executeTakeFirstOrThrow())
      .status;
  return {
    ...product,
    ada,
    stopDelivery,
    status,
    remove: (given = password) => product.call("DELETE", `/profile/${ada.id}`, ada.token, { password: given }),
    signIn: (given = password) =>
      product.call("POST", "/identity/v1/accounts:signInWithPassword?key=local", undefined, {
        email: ada.email,
        password: given,
        returnSecureToken: true,
      }),
    /** How many rows of each table name this user. */
    async rowsOf(userId: string) {
      const tables = await tablesOf(product.db);
      const counts: Record<string, number> = {};
      for (const name of tables) {
        const { rows } = await sql<{ n: number }>`
          select count(*) as n from ${sql.table(name)} r where r::text like ${`%${userId}%`}`.execute(product.db);
        counts[name] = rows[0]?.n ?? 0;
      }
      return counts;
    },
  };
}

async function tablesOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'user_id' order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Every table that knows a user: where the export shows it, and whether it outlives the account. A new table fails here
 * until somebody has decided both.
 */
const tables: Readonly<Record<string, { readonly exported: string | null; readonly kept: boolean }>> = {
  identity_session: { exported: "sign_ins", kept: false },
  identity_code: { exported: null, kept: false },
  profiles: { exported: "profile", kept: false },
  user_flags: { exported: "flags", kept: false },
  queue_entries: { exported: "places_in_line", kept: false },
  notifications: { exported: "notifications", kept: false },
  mails: { exported: "mails", kept: false },
  support_tickets: { exported: "support_tickets", kept: false },
  homes: { exported: "files", kept: false },
  grants: { exported: "environment_sign_ins", kept: false },
  share_links: { exported: "share_links", kept: false },
  sign_in_codes: { exported: null, kept: false },
  archive_codes: { exported: null, kept: false },
  subdomain_claims: { exported: "files", kept: false },
  orders: { exported: "orders", kept: true },
  payments: { exported: "payments", kept: true },
  credit_notes: { exported: "credit_notes", kept: true },
  receipts: { exported: "receipts", kept: true },
  disputes: { exported: "disputes", kept: true },
  refund_requests: { exported: "refund_requests", kept: false },
  account_holds: { exported: "account_holds", kept: true },
  time_credits: { exported: "time_credits", kept: true },
  environments: { exported: "environments", kept: true },
  sessions: { exported: "sessions", kept: true },
  deleted_accounts: { exported: null, kept: true },
};

test("the tables that know a user are those whose end is decided here", async () => {
  const { db } = await setup();
  expect(await tablesOf(db)).toEqual(Object.keys(tables).toSorted());
});

function measurement<Used extends object>(environment_id: string, used: Used) {
  return { environment_id, span_seconds: 600 as const, at: new Date(), looks: 1, memory_mb: 90, ...used };
}

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

test("the wrong password is refused in words, counts as a sign-in, and changes nothing", async () => {
  const product = await testApp({ SIGN_INS_PER_MINUTE: "3" });
  const ada = await product.signUp();
  const before = await product.rows();
  const answers: number[] = [];
  for (let tries = 0; tries < 4; tries += 1) {
    const answer = await product.call("DELETE", `/profile/${ada.id}`, ada.token, { password: "guess" });
    answers.push(answer.statusCode);
    if (tries === 0)
      expect(answer.json()).toMatchObject({ code: "wrong_password", message: "This is not your current password" });
  }
  expect(answers).toEqual([400, 400, 400, 429]);
  const signIn = await product.call("POST", "/identity/v1/accounts:signInWithPassword?key=local", undefined, {
    email: ada.email,
    password,
    returnSecureToken: true,
  });
  expect(signIn.statusCode, "the owner's own attempts are used up too").toBe(429);
  expect(await product.rows()).toEqual(before);
});

test("deleted: every environment ends, files go, names are free, money stays told without a name", async () => {
  const { ada, db, driver, rent, order, must, call, remove, signIn, status, rowsOf, signUp } = await setup();
  const [running, paused, stopped, ended] = [
    await rent(ada, { subdomain: "running-lab", gpu_count: 1 }),
    await rent(ada, { subdomain: "paused-lab", gpu_count: 1 }),
    await rent(ada, { subdomain: "stopped-lab", gpu_count: 1 }),
    await rent(ada, { subdomain: "ended-lab", gpu_count: 1 }),
  ];
  const act = (action: string, { environment_id }: typeof running) =>
    must("POST", `/docker/${action}_container/${environment_id}/${ada.id}`, ada.token, {});
  await act("pause", paused);
  await act("stop", stopped);
  await must("POST", `/environments/${ended.environment_id}/terminate`, ada.token, { confirm: "ended-lab" });
  await expect.poll(() => status(paused.environment_id)).toBe("paused");
  await expect.poll(() => status(stopped.environment_id)).toBe("stopped");
  await expect.poll(() => status(ended.environment_id)).toBe("terminated");
  await order(ada, { subdomain: "unpaid-lab", gpu_count: 1 });
  await must("POST", `/environments/${running.environment_id}/sign-in-code`, ada.token, {});
  await must("POST", "/auth/reset-password", undefined, { email: ada.email });
  await must("PUT", `/settings/${ada.id}/flags`, ada.token, { billingAlerts: false });
  const ticket = { issueType: "other", description: "x", userEmail: ada.email, userId: ada.id };
  await must("POST", "/support/tickets", ada.token, ticket);
  await sql`insert into grants (id, user_id, environment_id) values ('grant', ${ada.id}, ${running.environment_id})`.execute(
    db,
  );
  await db
    .insertInto("samples")
    .values(measurement(running.environment_id, { home_mb: 3, cpu_cores: 0.5 }))
    .execute();
  await must("POST", `/environments/${running.environment_id}/share`, ada.token, { term: "7d" });
  const before = await rowsOf(ada.id);
  const homes = (await db.selectFrom("environments").select("home").execute()).map(({ home }) => home);
  expect(homes.every((home) => driver.machine.homes.has(home))).toBe(true);

  expect((await remove()).json()).toEqual({ status: "success" });

  expect((await signIn()).statusCode).toBe(400);
  expect((await call("GET", `/profile/${ada.id}`, ada.token)).statusCode).toBe(401);
  const refreshed = await call("POST", "/identity/v1/token?key=local", undefined, {
    grant_type: "refresh_token",
    refresh_token: ada.refreshToken,
  });
  expect(refreshed.statusCode).toBe(400);
  for (const { environment_id } of [running, paused, stopped, ended])
    await expect.poll(() => status(environment_id), { timeout: 15_000 }).toBe("terminated");
  expect(await driver.list()).toEqual([]);
  await expect.poll(() => homes.some((home) => driver.machine.homes.has(home)), { timeout: 15_000 }).toBe(false);
  await expect.poll(async () => (await rowsOf(ada.id))["homes"], { timeout: 15_000 }).toBe(0);

  const after = await rowsOf(ada.id);
  for (const [name, { kept }] of Object.entries(tables)) {
    if (!kept) expect(after[name], `${name} is gone`).toBe(0);
    else if (name !== "deleted_accounts") expect(after[name], `${name} is kept`).toBe(before[name]);
  }
  const everything = JSON.stringify(await everyText(db));
  expect(everything).not.toContain(ada.email);
  expect(everything).not.toContain("Lovelace");
  expect(await db.selectFrom("samples").selectAll().execute()).toEqual([]);
  const unpaid = await db
    .selectFrom("orders")
    .where("subdomain", "=", "unpaid-lab")
    .selectAll()
    .executeTakeFirstOrThrow();
  expect(unpaid.status).toBe("cancelled");
  const leases = await db.selectFrom("gpu_leases").where("released_at", "is", null).selectAll().execute();
  expect(leases).toEqual([]);
  const bob = await signUp("Bob");
  for (const name of ["running-lab", "stopped-lab", "ended-lab", "unpaid-lab"])
    expect((await must("GET", `/subdomains/${name}`, bob.token)).available, name).toBe(true);
  const again = await must("POST", "/auth/signup", undefined, { email: ada.email, password, name: "Ada again" });
  expect(again.status).toBe("success");
});

test("what was on its way out when the account went leaves neither files nor name", async () => {
  const { ada, db, driver, rent, must, remove, status, signUp } = await setup();
  const { environment_id } = await rent(ada, { subdomain: "leaving-lab" });
  const release = driver.hang("remove");
  await must("POST", `/environments/${environment_id}/terminate`, ada.token, { confirm: "leaving-lab" });
  await expect.poll(() => driver.calls.get("remove") ?? 0).toBeGreaterThan(0);
  expect((await remove()).statusCode).toBe(200);
  release();
  await expect.poll(() => status(environment_id), { timeout: 15_000 }).toBe("terminated");
  await expect.poll(() => db.selectFrom("homes").selectAll().execute(), { timeout: 15_000 }).toEqual([]);
  const bob = await signUp("Bob");
  expect((await must("GET", "/subdomains/leaving-lab", bob.token)).available).toBe(true);
});

test("paid and not yet delivered: cancelled, and the whole price arrives though the account is gone", async () => {
  const { ada, db, order, pay, call, remove, payments, driver } = await setup({ answerMs: 600_000 });
  const placed = await order(ada, { subdomain: "slow-lab" });
  const proof = await pay(placed);
  const watch = startOrderPoller(payments);
  const refunds = startRefundSender(payments);
  await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.all([watch.stop(), refunds.stop()])) };
  await sql`update orders set due_at = now()`.execute(db);
  watch.trigger();
  const row = () => db.selectFrom("environments").selectAll().executeTakeFirst();
  await expect.poll(async () => (await row())?.status, { timeout: 15_000 }).toBe("pending");
  expect((await remove()).statusCode).toBe(200);
  await expect.poll(async () => (await row())?.status, { timeout: 15_000 }).toBe("terminated");
  expect(await row()).toMatchObject({ ended_reason: "cancelled" });
  const orderRow = () => db.selectFrom("orders").selectAll().executeTakeFirstOrThrow();
  await expect.poll(async () => (await orderRow()).status, { timeout: 15_000 }).toBe("refunded");
  const payment = await db.selectFrom("payments").selectAll().executeTakeFirstOrThrow();
  expect(payment.refund_minor).toBe(payment.amount_minor);
  expect(payment.gateway_payment_id).toBe(proof.razorpay_payment_id);
  expect(await driver.list()).toEqual([]);
  for (const table of ["notifications", "mails", "profiles"] as const)
    expect(await db.selectFrom(table).where("user_id", "=", ada.id).selectAll().execute(), table).toEqual([]);
  expect((await call("DELETE", `/profile/${ada.id}`, ada.token, { password })).statusCode).toBe(401);
});

test("money that arrives after the deletion goes back and buys nothing", async () => {
  const { ada, db, order, pay, remove, payments } = await setup();
  const placed = await order(ada);
  expect((await remove()).statusCode).toBe(200);
  await pay(placed);
  const watch = startOrderPoller(payments);
  const refunds = startRefundSender(payments);
  await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.all([watch.stop(), refunds.stop()])) };
  await sql`update orders set due_at = now()`.execute(db);
  watch.trigger();
  const orderRow = () => db.selectFrom("orders").selectAll().executeTakeFirstOrThrow();
  await expect.poll(async () => (await orderRow()).status, { timeout: 15_000 }).toBe("refunded");
  expect(await db.selectFrom("environments").selectAll().execute()).toEqual([]);
});

test("asked twice at once: both succeed, one deletion; whoever still writes about it brings nothing back", async () => {
  const { ada, db, remove, rowsOf, must } = await setup();
  await must("GET", `/profile/${ada.id}/export`, ada.token);
  const answers = await Promise.all([remove(), remove(), remove()]);
  expect(answers.map(({ statusCode }) => statusCode).every((code) => code === 200 || code === 401)).toBe(true);
  expect(answers.some(({ statusCode }) => statusCode === 200)).toBe(true);
  await db.insertInto("profiles").values({ user_id: ada.id, email: ada.email, name: "Ada" }).execute();
  await db
    .insertInto("notifications")
    .values({ id: "late", user_id: ada.id, cause: "late", title: "t", body: "b" })
    .execute();
  const after = await rowsOf(ada.id);
  expect([after["profiles"], after["notifications"], after["deleted_accounts"]]).toEqual([0, 0, 1]);
});

test("a crash in the middle leaves the account whole", async () => {
  const { ada, db, remove, rows, signIn } = await setup();
  await sql`create function crash() returns trigger language plpgsql as $$ begin raise exception 'cut off'; end $$`.execute(
    db,
  );
  await sql`create trigger crash before delete on profiles for each row execute function crash()`.execute(db);
  const before = await rows();
  expect((await remove()).statusCode).toBe(500);
  expect(await rows()).toEqual(before);
  await sql`drop trigger crash on profiles`.execute(db);
  expect((await remove()).statusCode).toBe(200);
  expect((await signIn()).statusCode).toBe(400);
  expect(ada.id).not.toBe("");
});

async function everyText(db: Db): Promise<unknown[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'`.execute(db);
  const texts: unknown[] = [];
  for (const { name } of rows) texts.push((await sql`select r::text from ${sql.table(name)} r`.execute(db)).rows);
  return texts;
}
