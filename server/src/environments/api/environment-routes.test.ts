import Fastify from "fastify";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { newId } from "../../database/ids.ts";
import { handleErrors } from "../../http/handle-errors.ts";
import { listEnvironments } from "../environment.ts";
import { launchTimes } from "../reconciler/launch-times.ts";
import { setupEnvironments } from "../testing/setup-environments.ts";
import { environmentRoutes } from "./environment-routes.ts";
import { listRoutes } from "./list-routes.ts";

async function setup(options: Parameters<typeof setupEnvironments>[0] = {}) {
  const environments = await setupEnvironments(options);
  const app = Fastify();
  onTestFinished(() => app.close());
  handleErrors(app);
  // Who asks stands in the bearer, without an identity behind it.
  app.addHook("preParsing", async (request) => {
    const id = request.headers.authorization?.replace("Bearer ", "");
    if (id) request.user = { id, email: `${id}@example.com`, emailVerified: true, name: id, sessionId: null };
  });
  environmentRoutes(app, {
    db: environments.db,
    environmentUrl: (subdomain) => `http://${subdomain}.localhost`,
    mayOrder: async () => {},
  });
  const call = async (
    method: "GET" | "POST" | "DELETE",
    url: string,
    { user = "user", body }: { user?: string; body?: object } = {},
  ) => {
    const headers = user ? { authorization: `Bearer ${user}` } : {};
    const reply = await app.inject({ method, url, headers, ...(body && { payload: body }) });
    return { code: reply.statusCode, ...reply.json() };
  };
  const act = (action: string, id: string, user = "user") =>
    call("POST", `/docker/${action}_container/${id}/${user}`, { user });
  return { ...environments, call, act };
}

test("the table of actions, each repeated with the same answer", async () => {
  const { act, rent, reach, read } = await setup();
  const id = await rent();
  expect(await act("stop", id)).toMatchObject({
    code: "action_not_allowed",
    message: expect.stringContaining("is still starting"),
  });
  await reach(id, "active");
  for (const [action, status] of [
    ["pause", "paused"],
    ["restart", "active"],
    ["stop", "stopped"],
    ["stop", "stopped"],
    ["start", "active"],
    ["restart", "active"],
  ] as const) {
    expect(await act(action, id)).toEqual({ code: 200, status: "success" });
    expect(await act(action, id)).toEqual({ code: 200, status: "success" });
    await reach(id, status);
  }
  expect(await read(id)).toMatchObject({ generation: 2 });
  await act("stop", id);
  await reach(id, "stopped");
  expect(await act("pause", id)).toMatchObject({ status: "error", code: "action_not_allowed" });
});

test("a machine that cannot pause refuses with the reason, and what runs goes on", async () => {
  const { act, rent, reach, read } = await setup({ options: { pause: 0 } });
  const id = await rent();
  await reach(id, "active");
  const refused = await act("pause", id);
  expect(refused).toMatchObject({ status: "error", code: "action_not_allowed" });
  expect(refused.message).toContain("cannot pause");
  expect(await read(id)).toMatchObject({ status: "active", desired: "running" });
  expect(await act("stop", id)).toEqual({ code: 200, status: "success" });
});

test("a stopped hourly plan leases before it starts, and hears when GPUs are free", async () => {
  const { act, rent, reach, leases } = await setup({ slots: 2 });
  const id = await rent({ gpuCount: 2 });
  await reach(id, "active");
  await act("stop", id);
  await reach(id, "stopped");
  const other = await rent({ userId: "other" });
  await reach(other, "active");
  const refused = await act("restart", id);
  expect(refused).toMatchObject({
    status: "error",
    code: "out_of_stock",
    message: expect.stringMatching(/free at \d{4}-\d\d-\d\d \d\d:\d\d UTC/),
  });
  expect(await leases(id)).toBe(0);
  await act("stop", other, "other");
  await reach(other, "stopped");
  await Promise.all([act("restart", id), act("restart", id), act("start", id)]);
  expect(await leases(id)).toBe(2);
  await reach(id, "active");
});

test("a restart that is taken back before anyone saw it leaves no GPU leased and no time lost", async () => {
  const { act, rent, reach, leases, read, pass } = await setup();
  const id = await rent({ durationHours: 6 });
  await reach(id, "active");
  await act("stop", id);
  await reach(id, "stopped");
  const { banked_seconds } = await read(id);
  await act("restart", id);
  await act("stop", id);
  await pass();
  expect(await leases(id)).toBe(0);
  expect(await read(id)).toMatchObject({ status: "stopped", banked_seconds, expires_at: null, stage: null });
});

test("G106 a stopped environment starts without its settings where that is asked for, and its page says why it stopped", async () => {
  const { call, rent, reach, read, want, db } = await setup();
  const id = await rent();
  const start = (body: object, user = "user") => call("POST", `/environments/${id}/start`, { body, user });
  expect(await start({ without_settings: true })).toMatchObject({ code: "action_not_allowed" });
  await reach(id, "active");
  await want(id, "stopped");
  await reach(id, "stopped");
  await sql`update environments set stop_reason = 'silent'`.execute(db);
  expect((await call("GET", `/environments/${id}`)).environment.stop_reason).toBe("silent");
  expect(await start({ without_settings: "yes" })).toMatchObject({ code: "invalid_request" });
  expect(await start({ without_settings: true }, "other")).toMatchObject({ code: "not_found" });
  for (const _ of ["asked", "again"])
    expect(await start({ without_settings: true })).toEqual({ code: 200, status: "success" });
  expect(await read(id)).toMatchObject({ desired: "running", without_settings: true });
  await reach(id, "active");
  expect((await call("GET", `/environments/${id}`)).environment.stop_reason).toBeNull();
});

test("terminate wants the name typed, is for good, and repeats", async () => {
  const { act, call, rent, reach, read } = await setup();
  const id = await rent({ subdomain: "mine" });
  const terminate = (confirm: unknown) => call("POST", `/environments/${id}/terminate`, { body: { confirm } });
  expect(await terminate("mine")).toMatchObject({ code: "action_not_allowed" });
  await reach(id, "active");
  expect(await terminate("Mine")).toMatchObject({ code: "invalid_request" });
  expect(await terminate(7)).toMatchObject({ code: "invalid_request" });
  expect(await terminate("mine")).toEqual({ code: 200, status: "success" });
  expect(await act("restart", id)).toMatchObject({
    code: "action_not_allowed",
    message: expect.stringContaining("being ended"),
  });
  expect((await read(id)).desired).toBe("terminated");
  await reach(id, "terminated");
  expect(await terminate("mine")).toEqual({ code: 200, status: "success" });
  expect(await read(id)).toMatchObject({ ended_reason: "terminated" });
});

test("G75: only what never answered can be cancelled, and it repeats", async () => {
  const { call, rent, reach, recorded, read } = await setup();
  const id = await rent();
  const cancel = (which: string) => call("POST", `/environments/${which}/cancel`);
  expect(await cancel(id)).toEqual({ code: 200, status: "success" });
  await reach(id, "terminated");
  expect(await cancel(id)).toEqual({ code: 200, status: "success" });
  expect(recorded.undelivered).toEqual([`${id}:cancelled`]);
  const answered = await rent();
  await reach(answered, "active");
  expect(await cancel(answered)).toMatchObject({ code: "action_not_allowed" });
  expect((await read(answered)).desired).toBe("running");
});

test("the owner's detail: secret, address, session, stages; never JupyterLab's own token", async () => {
  const { call, rent, reach, read, want } = await setup();
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
  expect(await listEnvironments((await setup()).db, ["user"])).toEqual([]);
});

test("another user's environment answers exactly like none, and hostile ids are not found", async () => {
  const { call, act, rent, reach, read } = await setup();
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

test("names and capacity", async () => {
  const { call, rent, reach } = await setup({ slots: 4 });
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

test("a place in the line: asked for, read, given up; only counts that are offered, and only one's own (G86)", async () => {
  const { call, rent } = await setup({ slots: 2 });
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
    message: "No machine has 8 GPUs",
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

test("what is measured and published names nobody: a launch by stage, restarts not counted, what is free (G38)", async () => {
  const { db, call, rent, reach, want } = await setup({ slots: 4 });
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

test("routes: the live environment of a name, else the last ended one while its files are kept", async () => {
  const { db, rent, reach, want, read } = await setup();
  const first = await rent({ subdomain: "mine" });
  await reach(first, "active");
  const { run_token: runToken, endpoint, secret } = await read(first);
  expect(await listRoutes(db)).toMatchObject([
    { id: first, subdomain: "mine", userId: "user", status: "active", runToken, endpoint, secret, filesUntil: null },
  ]);
  await want(first, "terminated");
  await reach(first, "terminated");
  expect(await listRoutes(db, first)).toMatchObject([
    { id: first, status: "terminated", runToken: null, endpoint: null, filesUntil: expect.any(Date) },
  ]);
  const second = await rent({ subdomain: "mine" });
  expect((await listRoutes(db, first)).map(({ id }) => id)).toEqual([second]);
  await reach(second, "active");
  await want(second, "terminated");
  await reach(second, "terminated");
  expect((await listRoutes(db)).map(({ id }) => id)).toEqual([second]);
  await sql`update subdomain_claims set retained_until = now()`.execute(db);
  expect(await listRoutes(db, second)).toEqual([]);
});
