import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { expect, onTestFinished, test } from "vitest";
import { launchBrowser } from "./launch-browser.ts";

/** A Chromium whose first starts end like a crash; its path. */
function crashing(starts: number): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-chromium-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const program = join(folder, "chromium");
  const count = `starts=$(cat ${folder}/starts 2>/dev/null || echo 0); echo $((starts + 1)) > ${folder}/starts`;
  const real = process.env["CHROMIUM"] ?? "";
  const script = `#!/bin/sh\n${count}\n[ "$starts" -ge ${starts} ] || kill -SEGV $$\nexec ${real} "$@"\n`;
  writeFileSync(program, script, { mode: 0o755 });
  return program;
}

test("a browser that crashes while it starts is started once more, and no more than once", async () => {
  const browser = await launchBrowser(chromium, { executablePath: crashing(1), args: ["--no-sandbox"] });
  onTestFinished(() => browser.close());
  expect(await (await browser.newPage()).evaluate("1 + 1")).toBe(2);
  await expect(launchBrowser(chromium, { executablePath: crashing(2) })).rejects.toThrow("SIGSEGV");
});
