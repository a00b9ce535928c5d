import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const analyser = "/usr/bin/systemd-analyze";
const reason = existsSync(analyser) ? "" : " (skipped: there is no systemd here)";

test.skipIf(reason)(`systemd accepts the unit that is shipped${reason}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-unit-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const unit = readFileSync(join(root, "deploy/berth.service"), "utf8");
  expect(unit).toContain("/opt/berth/bin/berth start");
  const file = join(folder, "berth.service");
  writeFileSync(file, unit.replace("/opt/berth/bin/berth", join(root, "bin/berth")));
  const { status, stdout, stderr } = spawnSync(analyser, ["verify", "--man=no", file], { encoding: "utf8" });
  expect([status, stdout + stderr]).toEqual([0, ""]);
});

test("the commands of the TLS page make a certificate that both names have", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const page = readFileSync(join(root, "docs/operate/tls.md"), "utf8");
  const [, commands = ""] = /```\n(mkdir -p \/etc\/berth\/tls[\s\S]*?)```/.exec(page) ?? [];
  execFileSync("sh", ["-ec", commands.replaceAll("/etc/berth/tls", folder)], { stdio: "ignore" });
  for (const name of ["berth.example", "any-name.berth-run.example"])
    execFileSync("openssl", ["verify", "-CAfile", "ca.pem", "-verify_hostname", name, "fullchain.pem"], {
      cwd: folder,
      stdio: "ignore",
    });
});
