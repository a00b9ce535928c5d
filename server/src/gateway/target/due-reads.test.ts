import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { createDueReads } from "./due-reads.ts";

/** Reads of a real table; `passes` records what each pass asked for. */
async function setup(reloadMs = 60_000) {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const passes: string[] = [];
  const read = (what: string) => {
    passes.push(what);
    return db.selectFrom("hosts").select("id").execute();
  };
  const due = createDueReads(
    {
      everything: async () => void (await read("everything")),
      some: async (environments, grants) => void (await read(`${[...environments]} ${[...grants]}`)),
    },
    reloadMs,
  );
  return { db, due, passes };
}

test("the first pass reads everything, the next ones only pending ids, each once", async () => {
  const { due, passes } = await setup();
  await due.pass();
  for (const id of ["e1", "e2", "e1"]) due.add("environments", id);
  due.add("grants", "g1");
  await due.pass();
  await due.pass();
  expect(passes).toEqual(["everything", "e1,e2 g1", " "]);
  due.addEverything();
  await due.pass();
  expect(passes.at(-1)).toBe("everything");
});

test("an id that is added during a pass is read in the next one", async () => {
  const { due, passes } = await setup();
  await due.pass();
  const pass = due.pass();
  due.add("grants", "late");
  await pass;
  await due.pass();
  expect(passes).toEqual(["everything", " ", " late"]);
});

test("after a failure everything is pending, and who waits for the pass goes on", async () => {
  const { db, due, passes } = await setup();
  await due.pass();
  await sql`alter table hosts rename to renamed`.execute(db);
  due.add("grants", "g1");
  const waiting = due.nextPass();
  await expect(due.pass()).rejects.toThrow("hosts");
  await waiting;
  await sql`alter table renamed rename to hosts`.execute(db);
  await due.pass();
  expect(passes).toEqual(["everything", " g1", "everything"]);
});

test("everything is read again after the reload interval, and an end resolves the next pass", async () => {
  const { due, passes } = await setup(0);
  await due.pass();
  due.add("environments", "e1");
  await due.pass();
  expect(passes).toEqual(["everything", "everything"]);
  const waiting = due.nextPass();
  due.end();
  await waiting;
});
