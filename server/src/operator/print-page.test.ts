import { expect, test, vi } from "vitest";
import { recordAct } from "../audit/record-act.ts";
import { testDatabase } from "../database/testing.ts";
import { addOrder } from "../environments/testing/setup-environments.ts";
import { insertEnvironment } from "../gateway/testing/insert-environment.ts";
import { commandRunner } from "./testing/run-command.ts";

test("a list that was cut says so and how it goes on, with --json on stderr; a whole one says nothing", async () => {
  await using database = await testDatabase();
  const { db } = database;
  const run = await commandRunner(db);
  const stderr = vi.spyOn(console, "error").mockImplementation(() => {});
  for (let n = 0; n < 51; n += 1)
    await addOrder(db, { userId: "ada", subdomain: `lab-${n}`, gpuCount: 1, durationHours: 1 });
  const find = async (...more: string[]) => (await run("orders", "find", "ada", ...more)).stdout;
  const [, id = ""] = /\n\nThe newest 50 shown; --before (\w+) goes on$/.exec(await find()) ?? [];
  expect(await find("--before", id)).not.toContain("goes on");
  const [newest, rest] = [await find("--json"), await find("--json", "--before", id)].map((text) => JSON.parse(text));
  expect(new Set([...newest, ...rest].map(({ subdomain }: { subdomain: string }) => subdomain)).size).toBe(51);
  expect(stderr.mock.calls).toEqual([[`The newest 50 shown; --before ${id} goes on`]]);
  stderr.mockRestore();

  await db.insertInto("hosts").values({ id: "local", kind: "process" }).execute();
  for (let n = 0; n < 101; n += 1) await insertEnvironment(db, {});
  const { stdout } = await run("environments");
  const [, last = ""] = /\n\nThe newest 100 shown; --before (\w+) goes on$/.exec(stdout) ?? [];
  expect(JSON.parse((await run("environments", "--json", "--before", last)).stdout)).toHaveLength(1);

  for (const host of ["gpu-1", "gpu-2"])
    await db.transaction().execute((tx) => recordAct(tx, { actor: "cli:ada", reason: "" }, "host.drain", host));
  expect((await run("audit", "--limit", "1")).stdout).toMatch(/gpu-2[\s\S]*\n\nThe newest 1 shown; --limit 2 goes on$/);
  expect((await run("audit", "--limit", "2")).stdout).not.toContain("goes on");
});
