import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { listEnvironments } from "../environment.ts";
import { launchTimes } from "../reconciler/launch-times.ts";
import { setupRoutes } from "../testing/setup-routes.ts";

test("the owner's detail has secret, address, session and stages, but never JupyterLab's own token", async () => {
  const { call, rent, reach, read, want } = await setupRoutes();
  const id = await rent({ subdomain: "mine", gpuCount: 2 });
  await reach(id, "active");
  const { environment } = await call("GET", `/environments/${id}`);
  const row = await read(id);
  expect(environment).toMatchObject({
    id,
    status: "active",
    subdomain: "mine",
    url: "http://mine.localhost",
    jupyter_token: row.secret,
    gpu: null,
    isolation: "none",
  });
  expect(environment.stages.map(({ stage }: { stage: string }) => stage)).toEqual([
    "ordered",
    "paid",
    "placed",
    "image",
    "created",
    "started",
    "answering",
    "ready",
  ]);
  expect(environment.session_id).toMatch(/^[0-9a-z]{25}$/);
  expect(environment.payment_reference, "paid by no card here").toBeNull();
  expect(JSON.stringify(environment)).not.toContain(row.run_token);
  await want(id, "terminated");
  await reach(id, "terminated");
  const after = (await call("GET", `/environments/${id}`)).environment;
  expect(after).toMatchObject({ status: "terminated", jupyter_token: null });
  expect(Date.parse(after.files_until)).toBeGreaterThan(Date.now());
  expect(await listEnvironments((await setupRoutes()).db, ["user"])).toEqual([]);
});

test("another user's environment gets the same reply as an absent one, and hostile ids are not found", async () => {
  const { call, act, rent, reach, read } = await setupRoutes();
  const id = await rent({ subdomain: "mine" });
  await reach(id, "active");
  const none = newId();
  const asks = (which: string) => [
    call("GET", `/environments/${which}`, { user: "mallory" }),
    act("stop", which, "mallory"),
    call("POST", `/docker/stop_container/${which}/user`, { user: "mallory" }),
    call("POST", `/environments/${which}/terminate`, { user: "mallory", body: { confirm: "mine" } }),
    call("POST", `/environments/${which}/cancel`, { user: "mallory" }),
  ];
  const foreign = await Promise.all(asks(id));
  for (const answer of foreign) expect(answer).toMatchObject({ status: "error", code: "not_found" });
  expect(foreign).toEqual(await Promise.all(asks(none)));
  expect(foreign).toEqual(await Promise.all(asks("%00")));
  expect((await read(id)).desired).toBe("running");
  expect(await call("POST", `/docker/destroy_container/${id}/user`)).toMatchObject({ error: "Not Found" });
  expect(await call("GET", `/environments/${id}`, { user: "" })).toMatchObject({ code: "unauthenticated" });
});

test("reads of one moment, which share their queries, answer as one by one; not to another user", async () => {
  const { call, rent, reach } = await setupRoutes({ slots: 4 });
  const [mine, theirs] = [
    await rent({ subdomain: "mine", gpuCount: 2 }),
    await rent({ subdomain: "theirs", userId: "other" }),
  ];
  for (const id of [mine, theirs]) await reach(id, "active");
  const asks = [
    () => call("GET", `/environments/${mine}`),
    () => call("GET", `/environments/${theirs}`, { user: "other" }),
    () => call("GET", `/environments/${mine}`, { user: "other" }),
    () => call("GET", `/environments/${newId()}`, { user: "other" }),
    () => call("GET", `/environments/${mine}`),
  ];
  const oneByOne = [];
  for (const ask of asks) oneByOne.push(await ask());
  expect(oneByOne.map(({ environment, code }) => environment?.subdomain ?? code)).toEqual([
    "mine",
    "theirs",
    "not_found",
    "not_found",
    "mine",
  ]);
  expect(await Promise.all(asks.map((ask) => ask()))).toEqual(oneByOne);
  expect(
    oneByOne.slice(0, 2).map(({ environment }) => environment.sessions.length + environment.stages.length),
  ).toEqual([9, 9]);
});

test("the routes of names and of capacity", async () => {
  const { call, rent, reach } = await setupRoutes({ slots: 4 });
  const id = await rent({ subdomain: "taken", gpuCount: 2, userId: "other" });
  await reach(id, "active");
  expect(await call("GET", "/subdomains/taken")).toMatchObject({
    available: false,
    message: "This name is in use",
    suggestion: "taken-2",
  });
  expect(await call("GET", "/subdomains/fresh")).toMatchObject({ available: true, message: "", suggestion: null });
  expect(await call("GET", "/subdomains/admin")).toMatchObject({ available: false, message: "This name is reserved" });
  expect(await call("GET", "/subdomains/%00%00%00")).toMatchObject({ code: "not_found" });
  expect(await call("GET", "/subdomains/no%20name")).toMatchObject({ available: false });
  const { kind, total, free, types, launch } = await call("GET", "/capacity", { user: "" });
  expect({ kind, total, free }).toEqual({ kind: "cpu", total: 4, free: 2 });
  expect(types.map(({ state }: { state: string }) => state)).toEqual(["preparing", "preparing", "preparing"]);
  expect(launch).toMatchObject({ count: 1 });
  expect(launch.p50_ms).toBeGreaterThanOrEqual(1000);
});

test("a queue entry is made, read and left: only for offered counts, and only one's own (G86)", async () => {
  const { call, rent } = await setupRoutes({ slots: 2 });
  await rent({ gpuCount: 2, durationHours: 6 });
  expect(await call("GET", "/environments/queue")).toMatchObject({ code: 200, place: null });
  const asked = await call("POST", "/environments/queue", { body: { gpu_count: 2 } });
  expect(asked).toMatchObject({ code: 200, place: { gpu_count: 2, state: "waiting", position: 1, held_until: null } });
  expect(Math.round((Date.parse(asked.place.expected_at) - Date.now()) / 3_600_000)).toBe(6);
  expect((await call("POST", "/environments/queue", { user: "bob", body: { gpu_count: 1 } })).place.position).toBe(2);
  for (const gpu_count of [0, 3, 1.5, "2", null])
    expect(await call("POST", "/environments/queue", { body: { gpu_count } })).toMatchObject({
      code: "invalid_request",
    });
  expect(await call("POST", "/environments/queue", { body: { gpu_count: 8 } })).toMatchObject({
    code: "out_of_stock",
    message: "No machine has 8 slots",
  });
  // What it waits for has not answered yet, so its end moves on.
  expect((await call("GET", "/environments/queue")).place).toEqual({
    ...asked.place,
    expected_at: expect.any(String),
  });
  for (const _ of [1, 2]) expect(await call("DELETE", "/environments/queue")).toMatchObject({ code: 200 });
  expect(await call("GET", "/environments/queue")).toMatchObject({ place: null });
  expect((await call("GET", "/environments/queue", { user: "bob" })).place.position).toBe(1);
  expect(await call("GET", "/environments/queue", { user: "" })).toMatchObject({ code: "unauthenticated" });
});

test("published figures name nobody: launch times by stage without restarts, and free GPUs (G38)", async () => {
  const { db, call, rent, reach, want } = await setupRoutes({ slots: 4 });
  const none = await call("GET", "/status", { user: "" });
  expect(none).toMatchObject({
    code: 200,
    days: 30,
    cold: null,
    warm: null,
    capacity: { kind: "cpu", total: 4, free: 4 },
  });
  expect(Date.now() - Date.parse(none.since)).toBeLessThan(60_000);

  const id = await rent({ subdomain: "secret-lab", userId: "ada", gpuCount: 2 });
  await reach(id, "active");
  await want(id, "stopped");
  await reach(id, "stopped");
  await call("POST", `/docker/start_container/${id}/ada`, { user: "ada" });
  await reach(id, "active");
  const old = await rent({ subdomain: "old-lab" });
  await reach(old, "active");
  await sql`update launch_times set ready_at = now() - interval '31 days' where environment_id = ${old}`.execute(db);
  expect(await launchTimes(db)).toMatchObject({ cold: { count: 1 }, warm: null });
  // What was read before is kept for two seconds, and longer where reading was slow.
  const read = async () => {
    const { cold, capacity } = await call("GET", "/status", { user: "" });
    return { launches: cold?.count, free: capacity.free };
  };
  await expect.poll(read, { timeout: 20_000 }).toEqual({ launches: 1, free: 1 });
  const { cold, capacity: now, ...rest } = await call("GET", "/status", { user: "" });
  expect(cold.stages.map(({ stage }: { stage: string }) => stage)).toEqual([
    "placed",
    "image",
    "started",
    "answering",
    "ready",
  ]);
  // Paid a second before it was placed (testing.ts).
  for (const { p50_ms, p95_ms } of cold.stages) {
    expect(p50_ms).toBeGreaterThanOrEqual(1000);
    expect(p50_ms).toBeLessThan(20_000);
    expect(p95_ms).toBe(p50_ms);
  }
  expect(cold.p50_ms).toBe(cold.stages.at(-1).p50_ms);
  expect(JSON.stringify([cold, now, rest])).not.toMatch(new RegExp(`ada|lab|${id}`));

  await sql`update launch_times set warm = true, ready_ms = 500 where environment_id = ${id}`.execute(db);
  expect(await launchTimes(db)).toMatchObject({ cold: null, warm: { count: 1, p50_ms: 500 } });
});
