import { sql } from "kysely";
import { expect, test } from "vitest";
import { readAudit } from "../../audit/read-audit.ts";
import type { Db } from "../../database/database.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { registerHost } from "../../environments/hosts/register-host.ts";
import { addHost } from "../capacity/add-host.ts";
import { cli, testConsole } from "./testing/test-console.ts";

const reason = "The fan is loud";

async function setup() {
  const { db, enrol } = await testConsole();
  await registerHost(db, "local", fakeDriver({}), 2);
  const { call, must } = await enrol();
  const act = (path: string, body: object = { reason, typed: "" }) => call("POST", path, body);
  const machines = () => must("GET", "hosts");
  return { db, act, machines };
}

const lastAct = async (db: Db) => (await readAudit(db, { limit: 1 }))[0];

test("G145 hosts are drained and undrained, and GPUs quarantined and released, with the operator's reason in the audit", async () => {
  const { db, act, machines } = await setup();
  const before = await machines();
  expect(before.hosts).toMatchObject([{ id: "local", gpus: 2, leased: 0, drained_at: null }]);
  const [gpu] = before.gpus;
  const author = { actor: "operator:ada@berth.example", reason };
  expect((await act("hosts/local/drain")).json().message).toBe("local drains; owners notified: 0");
  expect(await lastAct(db)).toMatchObject({ ...author, act: "host.drain", subject_id: "local" });
  expect((await machines()).hosts[0].drained_at).not.toBeNull();
  expect((await act("hosts/local/drain")).json().message).toBe("local drains already");
  expect((await act("hosts/local/undrain")).json().message).toBe("local takes environments again");
  expect((await act(`gpus/${gpu.id}/quarantine`)).json().message).toBe(`${gpu.id} is quarantined`);
  expect(await lastAct(db)).toMatchObject({ ...author, act: "gpu.quarantine", subject_id: gpu.id });
  expect((await machines()).gpus[0]).toMatchObject({ id: gpu.id, quarantine_reason: reason });
  expect((await act(`gpus/${gpu.id}/release`)).json().message).toBe(`${gpu.id} can be leased again`);
  expect(await machines()).toEqual(before);
});

test("G197 the files of a host move away and stop moving, each with the operator's reason", async () => {
  const { db, act, machines } = await setup();
  await registerHost(db, "more", fakeDriver({}), 2);
  expect((await act("hosts/local/move")).json().message).toBe(
    "local drains; owners notified: 0. To move now: 0 stopped environments, and the kept files of 0 that have ended. Nothing runs there.",
  );
  expect(await lastAct(db)).toMatchObject({ act: "host.move", reason, subject_id: "local" });
  const local = async () => (await machines()).hosts.find(({ id }: { id: string }) => id === "local");
  expect(await local()).toMatchObject({ moving_since: expect.any(String), drained_at: expect.any(String) });
  expect((await act("hosts/local/move")).json().message).toMatch(/^local drains so already. To move now: 0/);
  await act("hosts/local/drain");
  expect(await lastAct(db)).toMatchObject({ act: "host.stop_moving" });
  expect(await local()).toMatchObject({ moving_since: null, drained_at: expect.any(String) });
  const alone = await act("hosts/more/move");
  expect([alone.statusCode, alone.json().message]).toEqual([409, expect.stringMatching(/^No other host takes/)]);
});

test("G145 an act without a reason, on something unknown, or on a machine that answers is refused, and nothing is written", async () => {
  const { db, act, machines } = await setup();
  const far = { id: "far-1", address: "ssh://berth@10.0.0.5", homeRoot: "/srv/homes", reach: "10.0.0.5" };
  await addHost(db, far, cli);
  const before = [await machines(), await readAudit(db, { limit: 9 })];
  for (const path of ["hosts/local/drain", "hosts/far-1/lose", "gpus/local-0/quarantine"])
    for (const given of ["", "  "]) {
      const { statusCode, body } = await act(path, { reason: given, typed: "far-1" });
      expect([statusCode, JSON.parse(body).message], path).toEqual([
        400,
        expect.stringMatching(/^This needs a reason/),
      ]);
    }
  const untyped = await act("hosts/far-1/lose", { reason, typed: "far" });
  expect([untyped.statusCode, untyped.json().message]).toEqual([400, "Type far-1, the name of the host that is lost"]);
  const answering = await act("hosts/far-1/lose", { reason, typed: "far-1" });
  expect([answering.statusCode, answering.json().message]).toEqual([409, expect.stringMatching(/it can be drained$/)]);
  expect((await act("hosts/nothing/drain")).json().message).toMatch(/^There is no host nothing/);
  expect((await act("hosts/local/remove")).statusCode).toBe(404);
  expect([await machines(), await readAudit(db, { limit: 9 })]).toEqual(before);
});

test("G145 a host that does not answer is given up as lost when its name is typed", async () => {
  const { db, act, machines } = await setup();
  await addHost(db, { id: "far-1", address: "ssh://berth@10.0.0.5", homeRoot: "/srv/homes", reach: "10.0.0.5" }, cli);
  await sql`update hosts set away_since = now() where id = 'far-1'`.execute(db);
  const lost = await act("hosts/far-1/lose", { reason, typed: "far-1" });
  expect(lost.json().message).toBe("far-1 is lost; owners notified: 0");
  expect((await machines()).hosts.find(({ id }: { id: string }) => id === "far-1").lost_at).not.toBeNull();
  expect(await lastAct(db)).toMatchObject({ act: "host.lose", reason });
});
