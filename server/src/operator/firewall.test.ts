import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sql } from "kysely";
import { expect, inject, test } from "vitest";
import { testDatabase } from "../database/testing.ts";
import { installationOf } from "../installation/installation.ts";

const operator = fileURLToPath(new URL("main.ts", import.meta.url));

test("firewall prints the commands of this installation for root and changes nothing; an unknown argument is refused", async () => {
  await using database = await testDatabase();
  const { id } = await installationOf(database.db);
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(database.db);
  const { host, user, password } = inject("cluster");
  const DATABASE_URL = `postgres://${user}:${password}@localhost/${rows[0]?.name}?host=${encodeURIComponent(host ?? "")}`;
  const run = (...words: string[]) =>
    promisify(execFile)(process.execPath, [operator, "firewall", ...words], { env: { DATABASE_URL } });
  const { stdout } = await run();
  expect(stdout).toContain(`-A BERTH-OUT-${id.slice(0, 8)} -d 169.254.0.0/16 -j DROP`);
  expect(stdout).toContain(`iptables -w 5 -I INPUT 1 -i br-${id.slice(0, 8)} -j BERTH-IN-${id.slice(0, 8)}`);
  await expect(run("open")).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("firewall [apply | remove]"),
  });
});
