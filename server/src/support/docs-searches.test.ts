import { expect, test } from "vitest";
import { commandRunner } from "../operator/testing/run-command.ts";
import { testApp } from "../testing/test-app.ts";
import { purgeSearches, wordsOf } from "./docs-searches.ts";

test("G345 what the search did not find is counted without a sign-in, listed for the operator and deleted after ninety days", async () => {
  const { db, call } = await testApp();
  const search = (words: unknown) => call("POST", "/support/searches", undefined, { words });
  for (const words of ["Slurm  array", "slurm array", "mojo", "ada@uni.example", "41 22 333 4444"])
    expect((await search(words)).json()).toEqual({ status: "success" });
  const run = await commandRunner(db);
  const { stdout } = await run("docs", "searches");
  expect(stdout.split("\n").map((line) => line.trim().split(/\s{2,}/))).toEqual([
    ["times", "last", "words"],
    ["2", expect.stringMatching(/Z$/), "slurm array"],
    ["1", expect.stringMatching(/Z$/), "mojo"],
  ]);
  for (const words of ["", " ", "x".repeat(65), 7, undefined]) expect((await search(words)).statusCode).toBe(400);
  await db
    .updateTable("docs_searches")
    .set({ last_at: new Date(Date.now() - 91 * 86_400_000) })
    .where("words", "=", "mojo")
    .execute();
  await purgeSearches(db);
  expect(await db.selectFrom("docs_searches").select(["words", "count"]).execute()).toEqual([
    { words: "slurm array", count: 2 },
  ]);
});

test("G345 a full table takes no new words and counts on those it has", async () => {
  const { db, call } = await testApp();
  const rows = Array.from({ length: 2000 }, (_, n) => ({ words: `w ${"abcdefghij"[n % 10]} ${n.toString(36)} x` }));
  await db.insertInto("docs_searches").values(rows).execute();
  for (const words of ["new words", rows[0]?.words]) await call("POST", "/support/searches", undefined, { words });
  const counted = db.selectFrom("docs_searches").select(["words", "count"]).where("count", ">", 1);
  expect(await counted.execute()).toEqual([{ words: rows[0]?.words, count: 2 }]);
  expect(await db.selectFrom("docs_searches").select("words").where("words", "=", "new words").execute()).toEqual([]);
});

test.each([
  ["VS  Code", "vs code"],
  ["c++", "c++"],
  ["a100 80gb", "a100 80gb"],
  ["Kündigung", "kündigung"],
  ["ada@uni.example", undefined],
  ["https://my-lab.berth.example", undefined],
  ["4111 1111 1111 1111", undefined],
  ["card 4111-1111", undefined],
  ["order 20391", undefined],
  ["????", undefined],
  ["<script>", undefined],
])("of the search %s is kept: %s", (typed, kept) => {
  expect(wordsOf(typed)).toBe(kept);
});
