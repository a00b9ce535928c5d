import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs a script of npm in a checkout with the machine's own Node. */
function npmRun(script: string, checkout: string, words = "--help") {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return spawnSync("sh", ["-c", `${scripts[script]} ${words}`], { cwd: checkout, encoding: "utf8" });
}

/** In which nothing is installed. */
function freshCheckout(...parts: readonly string[]): string {
  const checkout = mkdtempSync(join(tmpdir(), "berth-checkout-"));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  const manifests = ["package.json", ...["contract", "server", "web"].map((name) => `${name}/package.json`)];
  for (const part of ["scripts", ...manifests, ...parts])
    cpSync(join(root, part), join(checkout, part), { recursive: true });
  return checkout;
}

test("npm run images on a fresh clone installs first, as npm start does, whatever Node the machine has", () => {
  // Without a lockfile npm ends before it asks a registry.
  const { status, stdout, stderr } = npmRun("images", freshCheckout("images"), "jupyter");
  expect([status, stdout]).toEqual([1, "Installing dependencies (about a minute, once)...\n"]);
  expect(stderr).toContain("npm ci");
  expect(stderr).not.toContain("ERR_UNKNOWN_FILE_EXTENSION");
});

test("the operator's commands install first on a fresh clone, where a restore is the first thing", () => {
  // Without a lockfile npm ends before it asks a registry.
  const { status, stdout, stderr } = npmRun("operator", freshCheckout("server/src/operator"));
  expect([status, stdout]).toEqual([1, "Installing dependencies (about a minute, once)...\n"]);
  expect(stderr).toContain("npm ci");
  expect(npmRun("operator", root).stdout).toContain("npm run operator -- doctor");
});

test("one command installs at a time: the others wait for it, and not for one that was killed or began an hour ago", async () => {
  const checkout = freshCheckout();
  const lock = join(checkout, ".berth-installing");
  const { pid: ended } = spawnSync("true");
  writeFileSync(lock, String(ended));
  expect(npmRun("operator", checkout).stdout).toBe("Installing dependencies (about a minute, once)...\n");

  writeFileSync(lock, String(process.pid));
  const anHourAgo = new Date(Date.now() - 3_600_000);
  utimesSync(lock, anHourAgo, anHourAgo);
  expect(npmRun("operator", checkout).stdout).toBe("Installing dependencies (about a minute, once)...\n");

  writeFileSync(lock, String(process.pid));
  const second = spawn(process.execPath, ["scripts/operator.mjs"], {
    cwd: checkout,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let said = "";
  second.stdout.on("data", (text) => {
    said += text;
    rmSync(lock, { force: true });
  });
  expect(await once(second, "close")).toEqual([1, null]);
  expect(said).toBe(
    `Another command (process ${process.pid}) installs or builds here. This one waits for its end...\nInstalling dependencies (about a minute, once)...\n`,
  );
});
