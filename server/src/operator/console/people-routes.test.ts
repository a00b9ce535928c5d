import { expect, test } from "vitest";
import { readAudit } from "../../audit/read-audit.ts";
import { newId } from "../../database/new-id.ts";
import { testApp } from "../../testing/test-app.ts";
import { testConsole } from "./testing/test-console.ts";

const reason = "Scans of other networks";

async function setup() {
  const tenants = await testApp();
  const { enrol } = await testConsole({ db: tenants.db });
  const own = await enrol();
  const act = (id: string, name: string, body: object) => own.call("POST", `people/${id}/${name}`, body);
  return {
    ...tenants,
    own,
    search: (text: string, page = 1) => own.must("POST", "people/search", { text, page }),
    person: async (id: string) => (await own.must("GET", `people/${id}`)).person,
    act,
    /** The message of an act that is done. */
    async done(id: string, name: string, body: object = { reason }) {
      const reply = await act(id, name, body);
      expect(reply.statusCode, reply.body).toBe(200);
      return reply.json().message;
    },
    suspend: { reason, now: true, refund: false, typed: "" },
    acts: async () => (await readAudit(tenants.db, { limit: 9 })).map(({ act: name }) => name).toReversed(),
  };
}

test("accounts are found a page at a time, by a part of address, name or id", async () => {
  const { db, search, signUp } = await setup();
  const ada = await signUp("Ada Park");
  const at = (n: number) => new Date(Date.UTC(2020, 0, 1, 0, n));
  const users = Array.from({ length: 51 }, (_, n) => ({ id: newId(), email: `u${n}@old.example`, created_at: at(n) }));
  await db
    .insertInto("identity_user")
    .values(users.map((user) => ({ ...user, email_key: user.email })))
    .execute();
  const first = await search("");
  expect([first.total, first.per_page, first.people.length]).toEqual([52, 50, 50]);
  expect(first.people[0]).toMatchObject({ user_id: ada.id, email: ada.email, name: "Ada Park", suspended_at: null });
  expect((await search("", 2)).people).toHaveLength(2);
  expect(await search("", 3)).toMatchObject({ total: 52, people: [] });
  expect((await search(" ada par ")).people).toHaveLength(1);
  expect((await search(ada.id)).total).toBe(1);
  expect((await search("nobody")).total).toBe(0);
});

test("one account is shown with what a suspension would do, and without secrets", async () => {
  const { own, signUp, order, rent, deliver, db, person } = await setup();
  const stop = deliver();
  const ada = await signUp();
  const { environment_id: id, jupyter_token } = await rent(ada, { gpu_count: 1, duration: 24 });
  await order(ada, { subdomain: "second-lab", gpu_count: 1 });
  await stop();
  // Half of its day is left.
  await db
    .updateTable("environments")
    .set({ status: "stopped", desired: "stopped", expires_at: null, banked_seconds: 12 * 3600 })
    .where("id", "=", id)
    .execute();
  const shown = await person(ada.id);
  expect(shown).toMatchObject({
    ...{ user_id: ada.id, email: ada.email, suspended: false, held: false, warnings: [], suspensions: [] },
    money: [{ currency: "USD", paid_minor: 480, refunded_minor: 0, disputes: 0 }],
    environments: [{ id, subdomain: "first-lab", banked_seconds: 12 * 3600 }],
    if_suspended: {
      ...{ stopping: 0, ending: 1, launches: 0, launch_amounts: [], unpaid_orders: 1 },
      unused_amounts: [{ currency: "USD", minor: 240 }],
    },
  });
  expect(shown.orders).toHaveLength(2);
  expect(JSON.stringify(shown)).not.toContain(jupyter_token);
  expect((await own.call("GET", `people/${newId()}`)).statusCode).toBe(404);
});

test("G69 an account is warned, suspended and lifted with the operator's reason in the audit", async () => {
  const { db, signUp, done, act, suspend, person, acts } = await setup();
  const ada = await signUp();
  expect(await done(ada.id, "warn")).toBe(`${ada.email} is warned: 1 warning`);
  const early = await act(ada.id, "suspend", { ...suspend, now: false });
  expect([early.statusCode, early.json().message]).toEqual([409, expect.stringMatching(/has 1 of 2 warnings/)]);
  expect(await done(ada.id, "warn")).toBe(`${ada.email} is warned: 2 warnings; it can be suspended`);
  expect(await done(ada.id, "suspend", { ...suspend, now: false })).toBe(
    `${ada.email} is suspended; 0 environments stop with their time banked`,
  );
  expect(await person(ada.id)).toMatchObject({ suspended: true, suspensions: [{ reason, lifted_at: null }] });
  expect(await done(ada.id, "lift")).toBe(`${ada.email} can sign in again`);
  expect(await person(ada.id)).toMatchObject({ suspended: false });
  expect(await acts()).toEqual([
    ...["operator.add", "operator.set_up"],
    ...["user.warn", "user.warn", "user.suspend", "user.lift"],
  ]);
  expect((await readAudit(db, { limit: 1 }))[0]).toMatchObject({ actor: "operator:ada@berth.example", reason });
});

test("G145 a suspension with a refund needs the typed address, ends what runs and pays its unused time back", async () => {
  const { db, signUp, rent, deliver, act, done, suspend } = await setup();
  const stop = deliver();
  const ada = await signUp();
  const { environment_id: id } = await rent(ada, { gpu_count: 1, duration: 24 });
  const refund = { ...suspend, refund: true };
  const untyped = await act(ada.id, "suspend", { ...refund, typed: "ada" });
  expect([untyped.statusCode, untyped.json().message]).toEqual([400, expect.stringMatching(`^Type ${ada.email},`)]);
  expect(await done(ada.id, "suspend", { ...refund, typed: ada.email })).toBe(
    `${ada.email} is suspended; 1 environment ends, and its unused time is paid back`,
  );
  const environment = () => db.selectFrom("environments").select("status").where("id", "=", id).executeTakeFirst();
  await expect.poll(environment).toEqual({ status: "terminated" });
  expect(await db.selectFrom("refunds").select("reason").execute()).toEqual([{ reason: "discretionary" }]);
  await stop();
});

test("G71 an export is what its owner would get, and stands in the audit", async () => {
  const { own, signUp, acts } = await setup();
  const ada = await signUp();
  const { name, document, message } = await own.must("POST", `people/${ada.id}/export`, { reason });
  expect([name, message]).toEqual([`account-${ada.id}.json`, `${ada.id} is exported`]);
  expect(JSON.parse(document)).toMatchObject({ profile: { user_id: ada.id, email: ada.email } });
  expect(document).not.toContain("$argon2");
  expect((await acts()).at(-1)).toBe("user.export");
});

test("G349 a reset link leads to the app where it answers, and needs a reason", async () => {
  const { act, signUp, acts } = await setup();
  const ada = await signUp();
  expect((await act(ada.id, "reset-link", { reason: "" })).statusCode).toBe(400);
  const { link } = (await act(ada.id, "reset-link", { reason })).json();
  expect(link).toMatch(/^http:\/\/localhost:3000\/reset-password\?oobCode=[\w-]{43}$/);
  expect((await acts()).at(-1)).toBe("user.reset_link");
});

test("G145 an act without a reason, or with nobody, is refused, and nothing is written", async () => {
  const { rows, signUp, act, suspend } = await setup();
  const ada = await signUp();
  const { operator_sessions: _, ...before } = await rows();
  for (const name of ["warn", "lift", "suspend", "export"])
    for (const given of ["", "  "]) {
      const { statusCode, body } = await act(ada.id, name, { ...suspend, reason: given });
      expect([statusCode, JSON.parse(body).message], name).toEqual([
        400,
        expect.stringMatching(/^This needs a reason/),
      ]);
    }
  for (const name of ["warn", "lift", "suspend", "export"])
    expect((await act(newId(), name, suspend)).statusCode, name).toBe(404);
  expect((await act(ada.id, "forgive", { reason })).statusCode).toBe(404);
  const { operator_sessions: __, ...after } = await rows();
  expect(after).toEqual(before);
});
