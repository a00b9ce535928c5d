import { expect, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { brokenInvariants } from "../../payments/ledger/invariants.ts";
import { type TestUser, testApp } from "../../testing/test-app.ts";
import { commandRunner } from "../testing/run-command.ts";

async function setup() {
  const product = await testApp();
  const { db, must } = product;
  const run = await commandRunner(db);
  return {
    ...product,
    run,
    /** What the renter sees: GPU-hours and notes. */
    async seen({ token }: TestUser) {
      const { credits } = await must("GET", "/credits", token);
      return credits.map(({ gpu_hours, source, note }: Seen) => [gpu_hours, source, note]);
    },
    /** Grants a credit and returns its id. */
    async grant(who: string, hours: string, ...options: string[]) {
      const { code, stdout } = await run("credits", "grant", who, hours, "--reason", "Sorry for Monday", ...options);
      expect(code, stdout).toBe(0);
      return /credit (\w{25})$/.exec(stdout)?.[1] ?? "";
    },
    hoursOf: async (environmentId: string) => {
      const orders = db.selectFrom("orders").innerJoin("environments", "environments.order_id", "orders.id");
      return (await orders.select("orders.hours").where("environments.id", "=", environmentId).executeTakeFirst())
        ?.hours;
    },
  };
}

interface Seen {
  readonly gpu_hours: number;
  readonly source: string;
  readonly note: string;
}

test("G153 granted credits are seen by their owner and added to the next environment, every open one, once", async () => {
  const { db, run, signUp, rent, deliver, seen, grant, hoursOf, must } = await setup();
  const stop = deliver();
  const [ada, ben] = [await signUp("Ada"), await signUp("Ben")];
  await grant(ada.email, "10", "--gpus", "2");
  await grant(ada.id, "1");
  expect(await seen(ada)).toEqual([
    [20, "operator", "Sorry for Monday"],
    [1, "operator", "Sorry for Monday"],
  ]);
  expect(await seen(ben)).toEqual([]);
  const { environment_id } = await rent(ada, { gpu_count: 2 });
  expect(await hoursOf(environment_id)).toBe(11.5);
  expect(await seen(ada)).toEqual([]);
  const { environment_id: second } = await rent(ada, { gpu_count: 1, subdomain: "second-lab" });
  expect(await hoursOf(second), "used once").toBe(1);
  const { environment } = await must("GET", `/environments/${environment_id}`, ada.token);
  expect((Date.parse(environment.expires_at) - Date.parse(environment.created_at)) / 3_600_000).toBeCloseTo(11.5, 2);
  const mails = await db.selectFrom("mails").select(["subject", "body_text"]).where("user_id", "=", ada.id).execute();
  const text = mails.map(({ subject, body_text }) => `${subject}: ${body_text}`).join("\n");
  expect(text).toMatch(/20 GPU-hours for your next environment: [\s\S]*Sorry for Monday\./);
  expect(text).toContain("Your credit is 10h 30m of first-lab.");
  const orders = await db.selectFrom("orders").select("id").where("subdomain", "=", "first-lab").executeTakeFirst();
  const { order } = await must("GET", `/orders/${orders?.id}`, ada.token);
  expect(order.timeline.filter(({ kind }: { kind: string }) => kind === "credit_used")).toMatchObject([
    { hours: 10 },
    { hours: 0.5 },
  ]);
  expect((await run("credits", "list")).stdout).toBe("No credit is open");
  expect(JSON.parse((await run("credits", "list", ada.email, "--json")).stdout)).toMatchObject([
    { gpu_hours: 1, state: "used", email: ada.email },
    { gpu_hours: 20, state: "used" },
  ]);
  await stop();
  expect(await brokenInvariants(db)).toEqual([]);
});

test("G154 what an operator ends gives money back for bought time, and a credit for granted time", async () => {
  const { db, run, signUp, rent, deliver, seen, grant } = await setup();
  const stop = deliver();
  const ada = await signUp();
  await grant(ada.id, "3");
  const { environment_id: id } = await rent(ada, { gpu_count: 1 });
  // Half of its four hours is left.
  await run("environments", "stop", id, "--reason", "First");
  const row = () => db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  await expect.poll(async () => (await row()).status).toBe("stopped");
  await db.updateTable("environments").set({ banked_seconds: 7200 }).where("id", "=", id).execute();
  await run("environments", "terminate", id, "--reason", "The machine goes");
  await expect.poll(async () => (await row()).status).toBe("terminated");
  expect(await db.selectFrom("refunds").select(["amount_minor"]).execute()).toEqual([{ amount_minor: 10 }]);
  expect(await seen(ada)).toEqual([[1.5, "returned", "Unused time of first-lab"]]);
  const { id: orderId } = await db.selectFrom("orders").select("id").executeTakeFirstOrThrow();
  // The rest of the price, and with it the rest of the credit.
  expect(await run("refund", orderId, "full", "Sorry.", "--yes", "--again")).toMatchObject({ code: 0 });
  expect((await seen(ada)).map(([hours]: [number]) => hours)).toEqual([1.5, 1.5]);
  await stop();
  expect(await brokenInvariants(db)).toEqual([]);
});

test("a credit is revoked once while it is open; a used one and an owed one are not", async () => {
  const { db, run, signUp, rent, deliver, seen, grant } = await setup();
  const stop = deliver();
  const ada = await signUp();
  const revoke = (id: string) => run("credits", "revoke", id, "--reason", "Meant for Ben");
  const first = await grant(ada.id, "2");
  expect(await run("credits", "revoke", first)).toMatchObject({ code: 1, stderr: /needs a reason/ });
  expect(await revoke(first)).toMatchObject({ stdout: `${first} is revoked; its owner is notified` });
  expect(await revoke(first)).toMatchObject({ stdout: `${first} is revoked already` });
  expect(await seen(ada)).toEqual([]);
  const second = await grant(ada.id, "2");
  await rent(ada, { gpu_count: 1 });
  expect(await revoke(second)).toMatchObject({ code: 1, stderr: /was used by the order .* nothing is left of it/ });
  expect(await revoke(newId())).toMatchObject({ code: 1, stderr: /There is no granted credit/ });
  const notices = await db
    .selectFrom("notifications")
    .select("body")
    .where("cause", "like", "credit-revoked:%")
    .execute();
  expect(notices).toEqual([{ body: "Meant for Ben. They were a credit that you had not used yet." }]);
  const acts = await db.selectFrom("audit").select(["act", "subject_id"]).orderBy("id").execute();
  expect(acts).toEqual(["credit.grant", "credit.revoke", "credit.grant"].map((act) => ({ act, subject_id: ada.id })));
  await stop();
});

test("hours and GPUs are whole numbers, an account exists, and a grant has a reason", async () => {
  const { db, run, signUp } = await setup();
  const ada = await signUp();
  for (const [hours, ...options] of [
    ["0"],
    ["1.5"],
    ["-1"],
    ["1001"],
    ["x"],
    ["1", "--gpus", "0"],
    ["1", "--gpus", "65"],
  ])
    expect(
      await run("credits", "grant", ada.id, "--reason", "x", ...options, "--", String(hours)),
      String([hours, ...options]),
    ).toMatchObject({ code: 2, stderr: /is a whole number from 1 to/ });
  expect(await run("credits", "grant", ada.id, "1")).toMatchObject({ code: 1, stderr: /needs a reason/ });
  expect(await run("credits", "grant", "nobody@x.example", "1", "--reason", "x")).toMatchObject({
    code: 1,
    stderr: /There is no account nobody@x.example/,
  });
  expect(await db.selectFrom("granted_credits").selectAll().execute()).toEqual([]);
});

test("a deleted account keeps no note and no open credit; its export has both", async () => {
  const { db, signUp, run, grant, call, must } = await setup();
  const ada = await signUp();
  await grant(ada.id, "2");
  expect((await must("GET", `/profile/${ada.id}/export`, ada.token)).credits).toMatchObject([
    { gpu_hours: 2, source: "operator", note: "Sorry for Monday", used_by_order: null, revoked_at: null },
  ]);
  await call("DELETE", `/profile/${ada.id}`, ada.token, { password: "good password 1" });
  expect(await db.selectFrom("granted_credits").select(["note", "revoked_at"]).execute()).toEqual([
    { note: "", revoked_at: expect.any(Date) },
  ]);
  expect((await run("credits", "list")).stdout).toBe("No credit is open");
});
