import { environmentDetail, setDoneNotice as setDoneNoticeCall } from "@berth/contract";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { RunProcess } from "../../drivers/driver.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { announcer } from "../../notifications/announcer.ts";
import { testApp } from "../../testing/test-app.ts";
import { act } from "../api/environment-actions.ts";
import { setupEnvironments, writeOnly } from "../testing/setup-environments.ts";
import { recordLook, setDoneNotice } from "./done-notice.ts";
import type { Look } from "./next-quiet.ts";
import { startSampling } from "./start-sampling.ts";

/** An active environment whose owner waits for the end of its work. */
async function setup(mode: "notify" | "stop" = "notify", durationHours = 6) {
  const world = await setupEnvironments();
  const { db, rent, reach } = world;
  const id = await rent({ durationHours, subdomain: "my-lab" });
  await reach(id, "active");
  const owned = { id, userId: "user" };
  await setDoneNotice(db, owned, mode);
  await db.deleteFrom("notifications").execute();
  const look = (found: Look, generation = 1) => recordLook(db, writeOnly, { id, generation, look: found });
  return {
    ...world,
    id,
    owned,
    look,
    /** Lets 31 s go by since the first look that found nothing. */
    later: () => sql`update environments set done_quiet_since = done_quiet_since - interval '31 seconds'`.execute(db),
    notices: async () =>
      (await db.selectFrom("notifications").select(["title", "body"]).execute()).map(
        ({ title, body }) => `${title}. ${body}`,
      ),
  };
}

const state = { done_notice: null, done_ran: false, done_quiet_since: null };

test("one notice comes when nothing runs any more, whoever else looks at that moment, and the switch is off (G360)", async () => {
  const { id, look, later, notices, read } = await setup();
  await look("nothing");
  await later();
  await look("nothing");
  expect(await read(id), "it waits for a first piece of work").toMatchObject({ ...state, done_notice: "notify" });
  await look("work");
  await look("nothing");
  await look("nothing");
  expect(await notices()).toEqual([]);
  await later();
  await Promise.all([look("nothing"), look("nothing"), look("nothing")]);
  await look("nothing");
  const [notice, ...others] = await notices();
  expect(others).toEqual([]);
  expect(notice).toMatch(
    /^Nothing runs any more in my-lab\. No cell, no program and no load since \w{3} \d+, .* UTC\. It stays as it is and its clock goes on\. /,
  );
  expect(await read(id)).toMatchObject({ ...state, desired: "running", status: "active" });
  await look("work");
  expect(await read(id), "nobody waits any more").toMatchObject(state);
});

test("with the stop its time is banked to the second, as its owner's stop would (G360)", async () => {
  const { db, id, look, later, notices, read, reach, leases } = await setup("stop");
  await look("work");
  await look("nothing");
  await later();
  await look("nothing");
  expect(await read(id)).toMatchObject({ ...state, desired: "stopped", status: "active" });
  const { expires_at: end } = await read(id);
  await reach(id, "stopped");
  const { banked_seconds, stop_reason } = await read(id);
  const session = await db.selectFrom("sessions").selectAll().executeTakeFirstOrThrow();
  const left = ((end?.getTime() ?? 0) - (session.closed_at?.getTime() ?? 0)) / 1000;
  expect([banked_seconds, stop_reason, session.reason]).toEqual([Math.floor(left), null, "stopped"]);
  expect(await leases(id)).toBe(0);
  expect(await notices()).toEqual([
    expect.stringMatching(/^Nothing runs any more in my-lab, so it stops\. .* kept\.$/),
  ]);
  await act(db, { id, userId: "user" }, "restart");
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ ...state, generation: 2 });
});

test("the notice of a monthly plan says that its clock runs on (G2)", async () => {
  const { look, later, notices } = await setup("stop", 720);
  await look("work");
  await look("nothing");
  await later();
  await look("nothing");
  expect((await notices())[0]).toMatch(/Its GPUs stay yours, and the clock of a monthly plan runs on\.$/);
});

test("looks that could not be taken, a pause and another mode conclude nothing; an owner who stops is asked nothing", async () => {
  const { db, id, owned, look, later, notices, read, want, reach } = await setup();
  await look("work");
  await look("nothing");
  await later();
  await look("unknown");
  await look("nothing");
  expect(await notices()).toEqual([]);
  expect(await setDoneNotice(db, owned, "stop")).toEqual({ mode: "stop", has_run: true });
  await want(id, "paused");
  await reach(id, "paused");
  await later();
  await look("nothing");
  await want(id, "running");
  await reach(id, "active");
  expect(await read(id), "the run goes on, and so does the wait").toMatchObject({
    done_notice: "stop",
    done_ran: true,
  });
  await act(db, owned, "stop");
  await look("nothing");
  expect(await notices()).toEqual([]);
  await reach(id, "stopped");
  expect(await read(id)).toMatchObject(state);
  await expect(setDoneNotice(db, owned, "notify")).rejects.toThrow("my-lab is stopped and cannot be changed now");
});

test("switching off, a new run and the end take it back, and another's environment is not found", async () => {
  const { db, id, owned, look, later, notices, read, pass, reach, driver } = await setup();
  await expect(setDoneNotice(db, { ...owned, userId: "somebody" }, "stop")).rejects.toThrow("There is nothing here");
  await look("work");
  expect(await setDoneNotice(db, owned, null)).toEqual({ mode: null, has_run: false });
  expect(await read(id)).toMatchObject(state);
  expect(await setDoneNotice(db, owned, "notify"), "it waits for new work").toEqual({ mode: "notify", has_run: false });
  await look("work");
  await driver.stop(id, 0);
  await pass();
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ ...state, generation: 2 });
  await setDoneNotice(db, owned, "notify");
  await look("work", 2);
  await look("nothing", 1);
  expect(await read(id), "a late look at the run before").toMatchObject({ done_ran: true, done_quiet_since: null });
  await look("nothing", 2);
  await later();
  await sql`update environments set expires_at = now() - interval '1 second'`.execute(db);
  await reach(id, "terminated");
  await look("nothing", 2);
  expect(await read(id)).toMatchObject({ done_notice: null });
  expect(await notices()).not.toContainEqual(expect.stringContaining("Nothing runs"));
});

test("a journey: switched on, a program ends, told by bell and mail, and stopped (G360)", async () => {
  const product = await testApp({}, { fake: { cores: 0 } });
  product.deliver();
  const { db, must, call, driver } = product;
  const ada = await product.signUp("Ada");
  const { environment_id: id } = await product.rent(ada, { duration: 6 });
  let processes: readonly RunProcess[] = [{ pid: 1, command: "bash", inTerminal: false }];
  const drivers = new Map([["local", { ...driver, processes: async () => processes }]]);
  const announce = announcer({ appUrl: "https://berth.example", brandName: "Berth" });
  const sampling = startSampling({ db, drivers, announce, log: recordLog().log, intervalMs: 50 });
  onTestFinished(() => sampling.stop());
  const detail = async () =>
    environmentDetail.reply.parse(await must("GET", `/environments/${id}`, ada.token)).environment;
  expect((await detail()).done_notice).toEqual({ mode: null, has_run: false });
  for (const mode of ["off", true, undefined]) {
    const refused = await call("PUT", `/environments/${id}/done-notice`, ada.token, { mode });
    expect([refused.statusCode, refused.json().code], String(mode)).toEqual([400, "invalid_request"]);
  }
  const set = await must("PUT", `/environments/${id}/done-notice`, ada.token, { mode: "stop" });
  expect(setDoneNoticeCall.reply.parse(set).done_notice).toEqual({ mode: "stop", has_run: false });
  processes = [...processes, { pid: 2, command: "python3 train.py", inTerminal: true }];
  await expect.poll(async () => (await detail()).done_notice).toEqual({ mode: "stop", has_run: true });
  processes = processes.slice(0, 1);
  const quiet = db.selectFrom("environments").select("done_quiet_since as since").where("id", "=", id);
  await expect.poll(async () => (await quiet.executeTakeFirst())?.since).not.toBeNull();
  await sql`update environments set done_quiet_since = done_quiet_since - interval '31 seconds'`.execute(db);
  await expect.poll(async () => (await detail()).status, { timeout: 20_000 }).toBe("stopped");
  expect(await detail()).toMatchObject({ done_notice: { mode: null, has_run: false }, stop_reason: null });
  const subject = "Nothing runs any more in first-lab, so it stops";
  const written = async (table: "mails" | "notifications", column: "subject" | "title") =>
    (await sql`select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${subject}`.execute(db)).rows.length;
  expect([await written("mails", "subject"), await written("notifications", "title")]).toEqual([1, 1]);
});
