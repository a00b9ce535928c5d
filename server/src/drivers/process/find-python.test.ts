import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findPython } from "./find-python.ts";

/** A folder for PATH with programs that answer what a Python of that version would. */
function setup(pythons: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-python-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, answer] of Object.entries(pythons)) {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\necho '${answer}'\n`);
    chmodSync(path, 0o755);
  }
  return folder;
}

test("this machine's Python is found by its real paths", async () => {
  const { version, executable, prefix } = await findPython();
  expect(version).toMatch(/^3\.\d+\.\d+$/);
  expect(executable.startsWith(prefix)).toBe(true);
});

test("no Python: the message names the package", async () => {
  const found = findPython(setup({}));
  await expect(found).rejects.toMatchObject({ code: "no_image", message: expect.stringContaining("python3-venv") });
});

test("a Python that is too old or has no venv is named", async () => {
  const old = findPython(setup({ python3: '["/usr/bin/python3", "3.9.2", "/usr", true]' }));
  await expect(old).rejects.toThrow("Python 3.9.2 is too old");
  const bare = findPython(setup({ python3: '["/usr/bin/python3", "3.11.2", "/usr", false]' }));
  await expect(bare).rejects.toThrow('has no "venv" module');
});

test("a newer one beside an old python3 is used", async () => {
  const path = setup({
    python3: '["/usr/bin/python3", "3.9.2", "/usr", true]',
    "python3.12": '["/opt/bin/python3.12", "3.12.1", "/opt", true]',
  });
  expect(await findPython(path)).toEqual({ executable: "/opt/bin/python3.12", version: "3.12.1", prefix: "/opt" });
});
