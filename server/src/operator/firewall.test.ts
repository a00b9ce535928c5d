import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testDatabase } from "../database/testing.ts";
import { installationOf } from "../installation/installation.ts";
import { temporaryFolder } from "./backup/testing/setup-backup.ts";
import { databaseUrl, operator } from "./testing/run-operator.ts";

test("firewall prints the commands of this installation for root and changes nothing; an unknown argument is refused", async () => {
  await using database = await testDatabase();
  const { id } = await installationOf(database.db);
  const DATABASE_URL = await databaseUrl(database.db);
  const run = (...words: string[]) => operator(["firewall", ...words], { DATABASE_URL });
  const { code, stdout } = await run();
  expect(code).toBe(0);
  expect(stdout).toContain(`-A BERTH-OUT-${id.slice(0, 8)} -d 169.254.0.0/16 -j DROP`);
  expect(stdout).toContain(`iptables -w 5 -I INPUT 1 -i br-${id.slice(0, 8)} -j BERTH-IN-${id.slice(0, 8)}`);
  expect(await run("open")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("firewall [apply | remove]"),
  });
});

test("firewall remove needs no running server, which is stopped before Berth is removed", async () => {
  const DATA_DIR = temporaryFolder();
  const remove = () => operator(["firewall", "remove"], { DATA_DIR });
  expect(await remove()).toEqual({
    ...{ code: 1, stdout: "" },
    stderr: `${DATA_DIR} has no homes of an installation: set DATA_DIR, or start the database.\n`,
  });
  mkdirSync(join(DATA_DIR, "homes"));
  writeFileSync(join(DATA_DIR, "homes", ".installation"), "5up2qf7removed\n");
  expect(await remove()).toEqual({
    ...{ code: 0, stderr: "" },
    stdout: "Done: the bridge br-5up2qf7r has no firewall any more\n",
  });
});
