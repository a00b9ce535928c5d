import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { commandBlocks } from "../prove/machine/command-blocks.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const analyser = "/usr/bin/systemd-analyze";
const reason = existsSync(analyser) ? "" : " (skipped: there is no systemd here)";

test.skipIf(reason)(`systemd accepts the units that are shipped${reason}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-unit-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const unit = readFileSync(join(root, "deploy/berth.service"), "utf8");
  expect(unit).toContain("/opt/berth/bin/berth start");
  const file = join(folder, "berth.service");
  writeFileSync(file, unit.replace("/opt/berth/bin/berth", join(root, "bin/berth")));
  const socket = join(folder, "berth.socket");
  cpSync(join(root, "deploy/berth.socket"), socket);
  const { status, stdout, stderr } = spawnSync(analyser, ["verify", "--man=no", file, socket], { encoding: "utf8" });
  expect([status, stdout + stderr]).toEqual([0, ""]);
});

test("the commands of the page make a certificate that both names have", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const blocks = commandBlocks("docs/operate/install.md", "The machine");
  const commands = blocks.filter((block) => /BERTH_APP=|openssl req/.test(block)).join("\n");
  execFileSync("sh", ["-ec", commands.replaceAll("/etc/berth/tls", folder)], { stdio: "ignore" });
  for (const name of ["berth.example", "any-name.berth-run.example"])
    execFileSync("openssl", ["verify", "-CAfile", "ca.pem", "-verify_hostname", name, "fullchain.pem"], {
      cwd: folder,
      stdio: "ignore",
    });
});

test("compose.yaml, the chart and the pages name the release of package.json", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const named = (path: string) => readFileSync(join(root, path), "utf8").match(/(?<=berth[-:])\d+\.\d+\.\d+/g) ?? [];
  for (const path of ["deploy/compose.yaml", "docs/operate/install.md", "docs/operate/upgrade.md"])
    expect(new Set(named(path)), path).toEqual(new Set([version]));
  const chart = readFileSync(join(root, "deploy/helm/berth/Chart.yaml"), "utf8").match(
    /(?<=[vV]ersion: )\d+\.\d+\.\d+/g,
  );
  expect(chart).toEqual([version, version]);
});

test("package refuses a word that it does not know", () => {
  const done = spawnSync(process.execPath, [join(root, "scripts/package.mjs"), "tarball"], { encoding: "utf8" });
  expect(done).toMatchObject({ status: 2, stdout: "", stderr: "npm run package [-- image]\n" });
});
