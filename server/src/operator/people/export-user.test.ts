import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { testApp } from "../../testing/test-app.ts";
import { commandRunner } from "../testing/run-command.ts";

test("a suspended account gets its export and its deletion by the operator (G71)", async () => {
  const { db, signUp } = await testApp();
  const run = await commandRunner(db);
  const ada = await signUp();
  const folder = mkdtempSync(join(tmpdir(), "berth-export-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "ada.json");
  await run("users", "suspend", ada.id, "--now", "--reason", "Scans");
  expect(await run("users", "export", ada.id)).toMatchObject({ code: 2, stderr: "users export lacks --to FILE." });
  expect(await run("users", "export", ada.id, "--to", file)).toMatchObject({ code: 0 });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ profile: { user_id: ada.id, email: ada.email } });
  expect(readFileSync(file, "utf8")).not.toContain("$argon2");
  expect(await run("users", "export", ada.id, "--to", file)).toMatchObject({
    code: 1,
    stderr: /cannot be written: EEXIST/,
  });

  const erase = (...more: string[]) => run("users", "delete", ada.email, "--reason", "She asked", ...more);
  expect(await erase()).toMatchObject({ code: 0, stdout: /To do it, add --yes/ });
  expect(await erase("--yes")).toMatchObject({
    code: 0,
    stdout: `${ada.id} is deleted; receipts stay without its name`,
  });
  expect(await erase("--yes")).toMatchObject({ code: 1 });
  for (const table of ["identity_user", "account_suspensions", "profiles"] as const)
    expect(await db.selectFrom(table).selectAll().execute(), table).toEqual([]);
  const acts = await db.selectFrom("audit").select("act").orderBy("id").execute();
  expect(acts.map(({ act }) => act)).toEqual(["user.suspend", "user.export", "user.delete"]);
});
