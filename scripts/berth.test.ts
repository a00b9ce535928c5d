import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "berth-command-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

/** Without this machine's Node on the PATH. */
function berth(path: string, args: readonly string[], cwd: string) {
  const env = { PATH: "/usr/bin:/bin", ENV_FILE: "", DATA_DIR: join(cwd, "data") };
  return spawnSync(path, args, { cwd, env, encoding: "utf8" });
}

test("berth works through a link from any directory, and its messages say berth", () => {
  const elsewhere = folder();
  const link = join(elsewhere, "berth");
  symlinkSync(join(root, "bin/berth"), link);
  const help = berth(link, ["doctor", "--help"], elsewhere);
  expect([help.status, help.stderr]).toEqual([0, ""]);
  expect(help.stdout).toMatch(/^berth doctor \[--json\]\n/);
  expect(berth(link, ["--help"], elsewhere).stdout).not.toContain("npm run");
  const stopped = berth(link, ["doctor"], elsewhere);
  expect([stopped.status, stopped.stdout]).toEqual([1, ""]);
  expect(stopped.stderr).toMatch(/^There is no database in \S+\/data\/database\.\n$/);
  expect(berth(link, ["nonsense"], elsewhere)).toMatchObject({ status: 2 });
  const images = berth(link, ["images", "nonsense"], elsewhere);
  expect([images.status, images.stderr]).toEqual([1, expect.stringMatching(/^There is no image nonsense: /)]);
});

test.each([["start"], ["doctor"]])("berth %s in a checkout that was never started says the next step", (command) => {
  const checkout = folder();
  mkdirSync(join(checkout, "bin"));
  cpSync(join(root, "bin/berth"), join(checkout, "bin/berth"));
  const { status, stdout, stderr } = berth(join(checkout, "bin/berth"), [command], tmpdir());
  expect([status, stdout, stderr]).toEqual([
    ...[1, ""],
    `Nothing is installed in ${checkout} yet: start the server there once (npm start), which sets everything up.\n`,
  ]);
});
