import { sql } from "kysely";
import { expect, test } from "vitest";
import { setupRoutes } from "../testing/setup-routes.ts";

test("every action of every status, each repeated with the same result", async () => {
  const { act, rent, reach, read } = await setupRoutes();
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

test("a machine that cannot pause refuses with the reason, and the run goes on", async () => {
  const { act, rent, reach, read } = await setupRoutes({ options: { pause: 0 } });
  const id = await rent();
  await reach(id, "active");
  const refused = await act("pause", id);
  expect(refused).toMatchObject({ status: "error", code: "action_not_allowed" });
  expect(refused.message).toContain("cannot pause");
  expect(await read(id)).toMatchObject({ status: "active", desired: "running" });
  expect(await act("stop", id)).toEqual({ code: 200, status: "success" });
});

test("a stopped hourly plan leases before it starts, and a refusal says when GPUs are free", async () => {
  const { act, rent, reach, leases } = await setupRoutes({ slots: 2 });
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

test("a restart that is cancelled before it began leaves no GPU leased and loses no time", async () => {
  const { act, rent, reach, leases, read, pass } = await setupRoutes();
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

test("G106 a stopped environment starts without its settings on request, and its page says why it stopped", async () => {
  const { call, rent, reach, read, want, db } = await setupRoutes();
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

test("terminate needs the typed name, is final and idempotent", async () => {
  const { act, call, rent, reach, read } = await setupRoutes();
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

test("G75: only an environment that was never ready can be cancelled, and a repetition succeeds", async () => {
  const { call, rent, reach, recorded, read } = await setupRoutes();
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
