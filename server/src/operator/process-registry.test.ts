import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { memoryFolder } from "../database/testing/memory-folder.ts";
import { testDatabase } from "../database/testing.ts";
import { dataFolder, start } from "../testing/server-process.ts";
import { runningProcesses, thisProgram } from "./process-registry.ts";
import { askDoctor, databaseUrl } from "./testing/run-operator.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const [versions, roles] = ["Processes of another version", "Roles that no process has"];

async function setup() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const folder = dataFolder();
  const env = { DATABASE_URL: await databaseUrl(db), DATA_DIR: folder };
  return { db, env, ask: async () => (await askDoctor(db, env)).found };
}

/** A copy of the product with another version in its package. */
function otherVersion(): string {
  const folder = memoryFolder("berth-version-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const filter = (path: string) => !/\.test\.ts$|\/dist$/.test(path);
  for (const part of ["server", "images"]) cpSync(join(root, part), join(folder, part), { recursive: true, filter });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...own, version: "99.0.0" }));
  return join(folder, "server/src/main.ts");
}

test("a server is registered while it runs, with its roles and settings; a killed one counts for a minute", async () => {
  const { db, env, ask } = await setup();
  expect((await ask())[roles]).toEqual(["No process of the server runs"]);
  const first = start(env);
  const appUrl = await first.url();
  await expect
    .poll(() => runningProcesses(db))
    .toEqual([
      expect.objectContaining({
        ...(await thisProgram()),
        ...{ roles: ["api", "gateway", "worker"], hostName: hostname(), pid: first.child.pid },
        settings: expect.objectContaining({ appUrl, dataDir: env.DATA_DIR, runtime: "fake", sendsMail: false }),
      }),
    ]);
  const found = await ask();
  expect([found[roles], found[versions]]).toEqual([undefined, undefined]);
  first.child.kill("SIGTERM");
  expect(await first.ended, first.said.err).toBe(0);
  expect(await db.selectFrom("processes").selectAll().execute()).toEqual([]);

  const second = start(env);
  await second.url();
  await expect.poll(async () => (await runningProcesses(db)).length).toBe(1);
  second.child.kill("SIGKILL");
  await second.ended;
  await sql`update processes set seen_at = seen_at - interval '1 minute'`.execute(db);
  expect(await runningProcesses(db)).toEqual([]);
  expect((await ask())[roles]).toEqual(["No process of the server runs"]);
});

test("a replica of another version is listed with its version and this one", async () => {
  const { db, env, ask } = await setup();
  const secret = { IDENTITY_SECRET: "one secret for both of them, as replicas have" };
  const worker = start({ ...env, ...secret, ROLES: "api,worker" });
  await worker.url();
  const other = start({ ...env, ...secret, ROLES: "gateway", DATA_DIR: dataFolder() }, otherVersion());
  await other.url();
  await expect.poll(async () => (await runningProcesses(db)).length).toBe(2);
  const own = await thisProgram();
  expect((await ask())[versions]).toEqual([
    expect.stringMatching(
      new RegExp(`^gateway on ${hostname()} \\(process ${other.child.pid}\\) is 99\\.0\\.0\\+schema\\.\\w{12} with `),
    ),
  ]);
  expect((await ask())[versions]?.[0]).toContain(`this is ${own.version} with ${own.migration}`);
});
