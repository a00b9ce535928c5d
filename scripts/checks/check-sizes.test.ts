import { join } from "node:path";
import { expect, test } from "vitest";
import { plant, root, run } from "../testing/plant.ts";

const checkSizes = (files: Readonly<Record<string, string>>) =>
  run(process.execPath, [join(root, "scripts/checks/check-sizes.ts"), plant(files)]);

const lines = (count: number) => "// line\n".repeat(count);
const files = (folder: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${folder}/part-${n}.ts`, lines(1)]));

test("G395 a file of more than 300 lines is refused, tests and styles too, and none that a program writes", () => {
  const { failed, output } = checkSizes({
    "server/src/http/fits.ts": lines(300),
    "server/src/http/serve.test.ts": lines(301),
    "web/src/ui/page.module.css": lines(301),
    "images/lab.py": lines(301),
    "server/src/database/tables.ts": lines(900),
    "server/src/database/migrations/0001_initial.sql": lines(900),
    "docs/decisions.md": lines(900),
  });
  expect(output.trim().split("\n")).toEqual([
    expect.stringContaining("images/lab.py has 301 lines, at most 300"),
    expect.stringContaining("server/src/http/serve.test.ts has 301 lines"),
    expect.stringContaining("web/src/ui/page.module.css has 301 lines"),
  ]);
  expect(failed).toBe(true);
});

test("G396 a folder of more than 30 files is refused, migrations are not, and folders in it are not counted", () => {
  const { output } = checkSizes({
    ...files("server/src/mail", 31),
    ...files("server/src/mail/texts", 30),
    ...files("server/src/database/migrations", 60),
    ...files("node_modules/any", 60),
  });
  expect(output).toBe("server/src/mail has 31 files, at most 30: move those of one subject to a folder\n");
  expect(checkSizes(files("web/src/ui", 30))).toEqual({ failed: false, output: "" });
});
