import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { registerHost } from "../../environments/hosts/register-host.ts";
import { commandRunner } from "../testing/run-command.ts";

test("acts of the command line are listed with their user and reason, and verified", async () => {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const driver = fakeDriver({});
  onTestFinished(driver.close);
  await registerHost(db, "host", driver, 1);
  const run = await commandRunner(db);
  expect(await run("hosts", "drain", "host", "--reason", "New disks")).toMatchObject({ code: 0 });
  expect(await run("hosts", "drain", "host")).toMatchObject({ code: 0, stdout: "host is draining already" });
  expect(await run("gpus", "quarantine", "host-slot-1", "Loud", "fan")).toMatchObject({ code: 0 });
  const { stdout } = await run("audit");
  expect(stdout.split("\n").map((line) => line.trim().replaceAll(/ {2,}/g, "  "))).toEqual([
    "no  at  actor  act  subject  reason  details",
    expect.stringMatching(
      /^2 {2}\d{4}-\S+ \S+Z {2}cli:\S+ {2}gpu\.quarantine {2}host-slot-1 {2}Loud fan {2}held=false$/,
    ),
    expect.stringMatching(/^1 {2}\d{4}-\S+ \S+Z {2}cli:\S+ {2}host\.drain {2}host {2}New disks {2}owners=0$/),
  ]);
  const listed = JSON.parse((await run("audit", "--json", "--subject", "host", "--limit", "1")).stdout);
  expect(listed).toMatchObject([{ id: 1, act: "host.drain", hash: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
  expect((await run("audit", "--since", "2999-01-01")).stdout).toBe("There is no such act");
  const [, head = ""] =
    /^2 acts are whole; the newest has the hash (\w{64})$/.exec((await run("audit", "verify")).stdout) ?? [];
  expect(await run("audit", "verify", "--head", head)).toMatchObject({ code: 0 });
  expect(await run("audit", "verify", "--head", "0".repeat(64))).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("newer acts were cut off"),
  });
  await db.connection().execute(async (connection) => {
    await sql`set session_replication_role = replica`.execute(connection);
    await sql`update audit set actor = 'cli:eve' where id = 1`.execute(connection);
  });
  expect(await run("audit", "verify")).toMatchObject({
    code: 1,
    stdout: "Act 1 was changed or is missing; the 0 before it are whole",
  });
  expect(JSON.parse((await run("audit", "verify", "--json")).stdout)).toMatchObject({ acts: 0, broken: 1 });
});

test.each([
  {
    typed: ["--since", "yesterday"],
    wrong: "yesterday is neither a day such as 2026-11-01 nor a time such as 2026-11-01T09:00:00Z.",
  },
  { typed: ["--limit", "0"], wrong: "0 is not a number of acts." },
  { typed: ["verify", "--head", "abc"], wrong: "abc is not a hash of 64 digits." },
])("audit $typed is refused in one sentence", async ({ typed, wrong }) => {
  const run = await commandRunner();
  expect(await run("audit", ...typed)).toEqual({ code: 2, stdout: "", stderr: wrong });
});
