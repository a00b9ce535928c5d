import { sql } from "kysely";
import { expect, test } from "vitest";
import { verifyAudit } from "../../audit/read-audit.ts";
import { newId } from "../../database/new-id.ts";
import { lockOwned } from "../../environments/lock-owned.ts";
import { brokenInvariants } from "../../payments/ledger/invariants.ts";
import { settlePayment } from "../../payments/settlement/settle-payment.ts";
import { type TestUser, testApp } from "../../testing/test-app.ts";
import { commandRunner } from "../testing/run-command.ts";

async function setup() {
  const product = await testApp();
  const { db, call } = product;
  const run = await commandRunner(db);
  return {
    ...product,
    run,
    /** The status and message of a sign-in with the right password. */
    async signIn({ email }: TestUser) {
      const url = "/identity/v1/accounts:signInWithPassword?key=local";
      const reply = await call("POST", url, undefined, { email, password: "good password 1" });
      return [reply.statusCode, reply.json().error?.message ?? reply.json().idToken];
    },
    environment: (id: string) =>
      db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    mails: (user: TestUser) =>
      db
        .selectFrom("mails")
        .select(["subject", "body_text"])
        .where("user_id", "=", user.id)
        .orderBy("created_at")
        .execute(),
    /** As after so many warnings. */
    async suspend(user: TestUser, ...options: string[]) {
      return await run("users", "suspend", user.id, "--reason", "Scans", "--now", ...options);
    },
  };
}

test("G69 two warnings with their reason, then suspension: each by bell and by mail, whatever the flags say", async () => {
  const { db, run, signUp, mails } = await setup();
  const ada = await signUp();
  await db
    .insertInto("user_flags")
    .values({ user_id: ada.id, email_notifications: false, security_alerts: false })
    .execute();
  expect(await run("users", "warn", ada.email)).toMatchObject({ code: 1, stderr: /needs a reason/ });
  const suspend = () => run("users", "suspend", ada.email, "--reason", "Scans again");
  expect(await suspend()).toMatchObject({
    code: 1,
    stderr: `${ada.id} has 0 of 2 warnings: warn it first, or suspend it at once with --now`,
  });
  expect(await run("users", "warn", ada.email, "--reason", "Scans")).toMatchObject({
    stdout: `${ada.email} is warned: 1 warning`,
  });
  expect(await suspend()).toMatchObject({ code: 1 });
  await run("users", "warn", ada.id, "--reason", "Scans, still!");
  expect(await suspend()).toMatchObject({
    code: 0,
    stdout: `${ada.email} is suspended; 0 environments stop with their time banked`,
  });
  expect(await suspend()).toMatchObject({ code: 0, stdout: `${ada.email} is suspended already` });
  expect(await mails(ada)).toEqual([
    {
      subject: "A warning about your account",
      body_text: expect.stringMatching(/Scans\. This is warning 1 of 2: .* Write to hello@berth\.example/),
    },
    {
      subject: "A warning about your account",
      body_text: expect.stringContaining("Scans, still! This is warning 2 of 2"),
    },
    {
      subject: "Your account is suspended",
      body_text: expect.stringMatching(/Scans again\. .* Write to hello@berth\.example/),
    },
  ]);
  const bell = await db
    .selectFrom("notifications")
    .select("title")
    .where("user_id", "=", ada.id)
    .where("cause", "not like", "welcome:%")
    .execute();
  expect(bell).toHaveLength(3);
  const acts = await db.selectFrom("audit").select(["act", "reason"]).orderBy("id").execute();
  expect(acts.map(({ act, reason }) => `${act} ${reason}`)).toEqual([
    "user.warn Scans",
    "user.warn Scans, still!",
    "user.suspend Scans again",
  ]);
  expect(await verifyAudit(db)).toMatchObject({ acts: 3 });
});

test("G69 a suspension ends sign-ins and stops hourly and monthly environments with their time; lifting gives everything back", async () => {
  const { app, db, run, signUp, signIn, rent, deliver, call, must, environment, suspend } = await setup();
  const stop = deliver();
  const [ada, ben] = [await signUp("Ada"), await signUp("Ben")];
  const hourly = await rent(ada, { gpu_count: 1, duration: 6 });
  const monthly = await rent(ada, { subdomain: "month-lab", gpu_count: 1, duration: 720 });
  const other = await rent(ben, { subdomain: "other-lab", gpu_count: 1 });
  const { share } = await must("POST", `/environments/${hourly.environment_id}/share`, ada.token, { term: "1h" });
  const secret = (await environment(hourly.environment_id)).secret;
  expect(await suspend(ada)).toMatchObject({ code: 0, stdout: /2 environments stop/ });

  for (const [method, url] of [
    ["GET", `/profile/${ada.id}`],
    ["GET", `/environments/${hourly.environment_id}`],
    ["POST", "/docker/payments/create_order"],
  ] as const)
    expect((await call(method, url, ada.token, method === "POST" ? {} : undefined)).statusCode, url).toBe(401);
  expect(await signIn(ada)).toEqual([
    400,
    "USER_DISABLED : This account is suspended. Write to hello@berth.example if that is a mistake.",
  ]);
  const refreshed = await app.inject({
    method: "POST",
    url: "/identity/v1/token?key=local",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    payload: new URLSearchParams({ grant_type: "refresh_token", refresh_token: ada.refreshToken }).toString(),
  });
  expect([refreshed.statusCode, refreshed.json().error?.message]).toEqual([400, "TOKEN_EXPIRED"]);
  const link = await db
    .selectFrom("share_links")
    .select("revoked_at")
    .where("id", "=", share.id)
    .executeTakeFirstOrThrow();
  expect(link.revoked_at).not.toBeNull();
  for (const { environment_id: id } of [hourly, monthly])
    await expect.poll(async () => (await environment(id)).status).toBe("stopped");
  expect(await environment(hourly.environment_id)).toMatchObject({
    stop_reason: "suspended",
    expires_at: null,
    secret: expect.not.stringMatching(secret),
  });
  expect((await environment(hourly.environment_id)).banked_seconds).toBeGreaterThan(5.9 * 3600);
  expect((await environment(monthly.environment_id)).banked_seconds).toBeGreaterThan(719.9 * 3600);
  expect(await environment(other.environment_id)).toMatchObject({ status: "active" });
  expect((await call("GET", `/profile/${ben.id}`, ben.token)).statusCode).toBe(200);
  expect(await db.selectFrom("homes").select("subdomain").where("user_id", "=", ada.id).execute()).toHaveLength(2);

  const lift = () => run("users", "lift", ada.email, "--reason", "It was her neighbour");
  expect([await lift(), await lift()]).toMatchObject([
    { stdout: `${ada.email} can sign in again` },
    { stdout: `${ada.email} is not suspended` },
  ]);
  const [status, token] = await signIn(ada);
  expect(status).toBe(200);
  for (const { environment_id: id } of [hourly, monthly]) {
    await must("POST", `/docker/restart_container/${id}/${ada.id}`, token, {});
    await expect.poll(async () => (await environment(id)).status).toBe("active");
  }
  const left = await sql<{ seconds: number }>`
    select extract(epoch from expires_at - now())::float8 as seconds from environments where id = ${monthly.environment_id}`.execute(
    db,
  );
  expect(left.rows[0]?.seconds).toBeGreaterThan(719.9 * 3600);
  await stop();
  expect(await brokenInvariants(db)).toEqual([]);
});

test("G69 with --refund the environments end and their unused time is paid back once, also when it is repeated or said later", async () => {
  const { db, signUp, rent, deliver, environment, suspend } = await setup();
  const stop = deliver();
  const ada = await signUp();
  const { environment_id: id } = await rent(ada, { gpu_count: 1, duration: 24 });
  expect(await suspend(ada)).toMatchObject({ code: 0 });
  await expect.poll(async () => (await environment(id)).status).toBe("stopped");
  await db
    .updateTable("environments")
    .set({ banked_seconds: 12 * 3600 })
    .where("id", "=", id)
    .execute();
  expect(await suspend(ada, "--refund")).toMatchObject({
    stdout: `${ada.id} is suspended; 1 environment ends, and its unused time is paid back`,
  });
  expect(await suspend(ada, "--refund")).toMatchObject({ stdout: `${ada.id} is suspended already` });
  await expect.poll(async () => (await environment(id)).status).toBe("terminated");
  const refunds = await db.selectFrom("refunds").select(["amount_minor", "reason"]).execute();
  expect(refunds).toEqual([{ amount_minor: 240, reason: "discretionary" }]);
  await stop();
  expect(await brokenInvariants(db)).toEqual([]);
});

test("G69 a launch on its way is cancelled and paid back; an unpaid order is closed, and money that comes for it goes back", async () => {
  const { db, signUp, order, pay, own, payments, suspend } = await setup();
  const ada = await signUp();
  const paid = await order(ada, { gpu_count: 1 });
  await settlePayment(payments, await payments.provider.payment((await pay(paid)).razorpay_payment_id));
  const open = await order(ada, { subdomain: "second-lab", gpu_count: 1 });
  expect(own).toBeDefined();
  expect(await suspend(ada)).toMatchObject({ code: 0 });
  expect(await db.selectFrom("environments").select(["desired", "ended_reason"]).execute()).toEqual([
    { desired: "terminated", ended_reason: "cancelled" },
  ]);
  const rowOf = async ({ id }: { id: string }) =>
    db.selectFrom("orders").select("status").where("gateway_order_id", "=", id).executeTakeFirst();
  expect(await rowOf(open)).toEqual({ status: "cancelled" });
  const late = (await pay(open)).razorpay_payment_id;
  expect(await settlePayment(payments, await payments.provider.payment(late))).toBe("refunding");
  expect(await db.selectFrom("refunds").select("reason").execute()).toEqual([{ reason: "late_payment" }]);
  expect(await brokenInvariants(db)).toEqual([]);
});

test("what a suspended account had under way is refused, and leases nothing", async () => {
  const { db, signUp, rent, deliver, environment, suspend } = await setup();
  const stop = deliver();
  const ada = await signUp();
  const { environment_id: id } = await rent(ada, { gpu_count: 1 });
  await suspend(ada);
  const owned = { id, userId: ada.id };
  await expect(db.transaction().execute((tx) => lockOwned(tx, owned))).rejects.toThrow("Sign in first");
  await expect.poll(async () => (await environment(id)).status).toBe("stopped");
  await stop();
});

test("an account is found, shown, exported and deleted; what does not exist is said", async () => {
  const { run, signUp, rent, deliver } = await setup();
  const stop = deliver();
  const [ada] = [await signUp("Ada 100%_x"), await signUp("Ben")];
  await rent(ada, { gpu_count: 1 });
  const found = async (...text: string[]) =>
    JSON.parse((await run("users", "find", ...text, "--json")).stdout).map(({ email }: TestUser) => email);
  expect(await found(ada.email)).toEqual([ada.email]);
  expect(await found("100%_x")).toEqual([ada.email]);
  expect(await found("%")).toEqual([ada.email]);
  expect(JSON.parse((await run("users", "--json")).stdout)).toHaveLength(2);
  expect((await run("users", "--page", "2")).stdout).toBe("There is no page 2: the list has 2 rows");
  expect(await run("users", "--page", "0")).toMatchObject({ code: 2 });
  await run("users", "warn", ada.id, "--reason", "Scans");
  const shown = (await run("user", ada.email)).stdout;
  for (const part of [ada.id, ada.email, "paid $0.20, refunded $0.00, 0 disputes", "Scans", "first-lab", "user.warn"])
    expect(shown).toContain(part);
  expect(JSON.parse((await run("user", ada.id, "--json")).stdout)).toMatchObject({
    user_id: ada.id,
    suspended: false,
    money: [{ currency: "USD", paid_minor: 20, refunded_minor: 0 }],
    environments: [{ subdomain: "first-lab" }],
    warnings: [{ reason: "Scans" }],
  });
  expect(await run("user", newId())).toMatchObject({ code: 1, stderr: /There is no account .*users find/ });
  await stop();
});
