import { expect, test } from "vitest";
import { readAudit } from "../../audit/read-audit.ts";
import { newId } from "../../database/new-id.ts";
import { recordFinding, type Suspicion } from "../../environments/mining/record-finding.ts";
import { announcer } from "../../notifications/announcer.ts";
import { testApp } from "../../testing/test-app.ts";
import { testConsole } from "./testing/test-console.ts";

const reason = "A training, started in a terminal";
const seen = {
  kind: "program",
  what: "the program xmrig runs",
  commands: ["./xmrig -o pool:3333"],
  isCertain: false,
} as const;

/** A running environment in which something was found. */
async function setup() {
  const tenants = await testApp();
  const { db } = tenants;
  const stop = tenants.deliver();
  const ada = await tenants.signUp();
  const { environment_id: id } = await tenants.rent(ada, { gpu_count: 1, duration: 24 });
  const row = () => db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  await expect.poll(async () => (await row()).status).toBe("active");
  const announce = announcer({ appUrl: "http://localhost:3000", brandName: "Berth" });
  const { generation } = await row();
  const find = (found: Suspicion) =>
    recordFinding({ db, announce, contact: "us@berth.example", mode: "ask" }, { id, generation }, found);
  expect(await find(seen)).toBe("found");
  const { enrol } = await testConsole({ db });
  const own = await enrol();
  const open = async () => (await own.must("GET", "mining")).findings;
  const waiting = async () => (await own.must("GET", "now")).waiting.mining;
  const ofOne = async () => (await own.must("GET", `environments/${id}`)).environment.findings;
  return { db, ada, id, own, row, find, open, waiting, ofOne, stop };
}

test("G157 a finding waits for a person with its evidence; dismissed, it waits no more and stays with its environment", async () => {
  const { db, ada, id, own, find, open, waiting, ofOne, stop } = await setup();
  const [finding] = await open();
  expect(finding).toEqual({
    ...{ id: expect.any(String), environment_id: id, subdomain: "first-lab", user_id: ada.id, email: ada.email },
    ...{ kind: "program", evidence: { what: seen.what, commands: seen.commands }, state: "open" },
    ...{ found_at: expect.any(String), seen_at: expect.any(String) },
  });
  expect([await waiting(), await ofOne()]).toEqual([1, [finding]]);
  const dismiss = (given: string) => own.call("POST", `mining/${finding.id}/dismiss`, { reason: given });
  const unreasoned = await dismiss(" ");
  expect([unreasoned.statusCode, unreasoned.json().message]).toEqual([
    400,
    expect.stringMatching(/^This needs a reason/),
  ]);
  expect(await waiting()).toBe(1);
  expect((await dismiss(reason)).json().message).toBe("The finding is dismissed");
  expect((await dismiss(reason)).json().message).toBe("The finding was dismissed before");
  expect(await find(seen)).toBe("known");
  expect([await open(), await waiting(), await ofOne()]).toMatchObject([[], 0, [{ state: "dismissed" }]]);
  const [act] = await readAudit(db, { limit: 1 });
  expect(act).toMatchObject({ act: "mining.dismiss", subject_id: id, actor: "operator:ada@berth.example", reason });
  expect((await own.call("POST", `mining/${newId()}/dismiss`, { reason })).statusCode).toBe(404);
  await stop();
});

test("G69 what mines is ended without money back, and its findings are decided", async () => {
  const { db, id, own, row, open, waiting, ofOne, stop } = await setup();
  const given = { reason: "Crypto mining", typed: "first-lab", refund: false };
  await own.must("POST", `environments/${id}/terminate`, given);
  expect([await open(), await waiting(), await ofOne()]).toMatchObject([[], 0, [{ state: "ended" }]]);
  await expect.poll(async () => (await row()).status).toBe("terminated");
  await stop();
  expect(await db.selectFrom("refunds").selectAll().execute()).toEqual([]);
});
