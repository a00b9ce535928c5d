import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { pidFileOf, postmasterOf } from "./postmaster-of.ts";

test("a pid file that is created and deleted during reads is never an error", async () => {
  const data = mkdtempSync(join(tmpdir(), "berth-postmaster-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const file = JSON.stringify(pidFileOf(data));
  const script = `const { rmSync, writeFileSync } = require("node:fs");
    console.log("begun");
    for (;;) { writeFileSync(${file}, "1\\n"); rmSync(${file}); }`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  try {
    for (let n = 0; n < 20_000; n++) expect(postmasterOf(data)).toBeUndefined();
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});
