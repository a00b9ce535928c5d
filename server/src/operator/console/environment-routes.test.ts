import { expect, test } from "vitest";
import { readAudit } from "../../audit/read-audit.ts";
import { newId } from "../../database/new-id.ts";
import { testApp } from "../../testing/test-app.ts";
import { testConsole } from "./testing/test-console.ts";

const reason = "Its disk is full";

/** A running environment, whose worker goes on. */
async function setup() {
  const tenants = await testApp();
  const { db } = tenants;
  const stop = tenants.deliver();
  const ada = await tenants.signUp();
  const { environment_id: id, jupyter_token: secret } = await tenants.rent(ada, { gpu_count: 1, duration: 24 });
  const { enrol } = await testConsole({ db });
  const own = await enrol();
  const row = () => db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const search = async (change: object = {}) =>
    await own.must("POST", "environments/search", { text: "", status: "living", host: "", before: "", ...change });
  const act = (name: string, change: object = {}) =>
    own.call("POST", `environments/${id}/${name}`, { reason, typed: "first-lab", refund: true, ...change });
  return { db, ada, id, secret, own, row, search, act, stop };
}

test("G147 environments are found by state, host, name and owner, and shown from outside: no secret, no address", async () => {
  const { db, ada, id, secret, own, row, search, stop } = await setup();
  await stop();
  const found = [{ status: "active" }, { host: "local" }, { text: "first-lab" }, { text: ` ${ada.email} ` }, {}];
  for (const change of found)
    expect(await search(change), JSON.stringify(change)).toMatchObject({
      ...{ environments: [{ id, subdomain: "first-lab", email: ada.email, host_id: "local" }], hosts: ["local"] },
    });
  for (const change of [{ status: "stopped" }, { host: "gpu-9" }, { text: "first" }, { before: id }])
    expect((await search(change)).environments, JSON.stringify(change)).toEqual([]);
  const shown = await own.must("GET", `environments/${id}`);
  expect(shown.environment).toMatchObject({
    ...{ id, user_id: ada.id, gpus: ["local-slot-1"], orders: [{ status: "fulfilled", duration_hours: 24 }] },
    ...{ sessions: [{ closed_at: null }], unused: [{ currency: "USD", minor: expect.any(Number) }], acts: [] },
  });
  const stages = shown.environment.stages.map(({ stage }: { stage: string }) => stage);
  expect([stages[0], stages.at(-1)]).toEqual(["ordered", "ready"]);
  const { run_token, endpoint } = await row();
  for (const text of [JSON.stringify(shown), JSON.stringify(await search())])
    for (const hidden of [secret, String(run_token), JSON.stringify(endpoint)]) expect(text).not.toContain(hidden);
  expect((await own.call("GET", `environments/${newId()}`)).statusCode).toBe(404);
  expect(shown.environment.is_covered).toBe(false);
  await db.updateTable("orders").set({ gateway: "credit", amount_minor: 0, usd_minor: 0 }).execute();
  expect((await own.must("GET", `environments/${id}`)).environment.is_covered, "by a code (G332)").toBe(true);
  expect((await own.must("GET", "session")).unit, "no host has a GPU (G307)").toBe("cpu");
  await db.updateTable("gpus").set({ kind: "gpu" }).where("id", "=", "local-slot-1").execute();
  expect((await own.must("GET", "session")).unit).toBe("both");
  await db.updateTable("gpus").set({ kind: "gpu" }).execute();
  expect((await own.must("GET", "session")).unit).toBe("gpu");
});

test("G145 an environment is stopped and ended with a reason that its owner reads, and its unused time is paid back", async () => {
  const { db, id, own, row, search, act, stop } = await setup();
  expect((await act("stop")).json().message).toBe("first-lab stops; its owner is notified");
  expect((await act("stop")).json().message).toBe("first-lab is stopped already");
  await expect.poll(async () => (await row()).status).toBe("stopped");
  expect((await act("terminate")).json().message).toBe(
    "first-lab ends; its unused time is paid back, and its owner is notified",
  );
  expect((await act("terminate")).json().message).toBe("first-lab ends already");
  await expect.poll(async () => (await row()).status).toBe("terminated");
  await stop();
  const [refund] = await db.selectFrom("refunds").select(["amount_minor", "reason"]).execute();
  expect(refund?.reason).toBe("discretionary");
  expect(await search({ text: "first-lab" })).toMatchObject({ environments: [] });
  expect(await search({ status: "terminated" })).toMatchObject({ environments: [{ id, ended_reason: "operator" }] });
  const { environment } = await own.must("GET", `environments/${id}`);
  expect(environment).toMatchObject({
    ...{ status: "terminated", unused: [], gpus: [] },
    acts: [
      { act: "environment.terminate", reason, details: { refund: true } },
      { act: "environment.stop", reason, actor: "operator:ada@berth.example" },
    ],
  });
});

test("G145 an act without a reason, without the name, or on nothing is refused, and nothing is written", async () => {
  const { db, own, row, act, stop } = await setup();
  await stop();
  const before = [await row(), await readAudit(db, { limit: 9 })];
  for (const name of ["stop", "terminate"]) {
    const { statusCode, body } = await act(name, { reason: "  " });
    expect([statusCode, JSON.parse(body).message], name).toEqual([400, expect.stringMatching(/^This needs a reason/)]);
  }
  const untyped = await act("terminate", { typed: "first" });
  expect([untyped.statusCode, untyped.json().message]).toEqual([400, "Type first-lab, the name of the environment"]);
  const given = { reason, typed: "first-lab", refund: true };
  for (const name of ["stop", "terminate"])
    expect((await own.call("POST", `environments/${newId()}/${name}`, given)).statusCode, name).toBe(404);
  expect((await act("delete")).statusCode).toBe(404);
  expect([await row(), await readAudit(db, { limit: 9 })]).toEqual(before);
});

test("G69 with nothing paid back, as the terms say", async () => {
  const { db, row, act, stop } = await setup();
  expect((await act("terminate", { reason: "Crypto mining", refund: false })).json().message).toBe(
    "first-lab ends; nothing is paid back, and its owner is notified",
  );
  await expect.poll(async () => (await row()).status).toBe("terminated");
  await stop();
  expect(await db.selectFrom("refunds").selectAll().execute()).toEqual([]);
});
