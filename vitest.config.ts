import { defineConfig } from "vitest/config";
import { browserPath } from "./prove/browser.ts";
import { vitestReport } from "./scripts/vitest-report.ts";

const report = process.env["VITEST_REPORT"];

export default defineConfig({
  test: {
    include: ["**/*.test.ts", "**/*.test.tsx"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    globalSetup: ["server/src/database/testing-setup.ts"],
    env: { CHROMIUM: process.env["CHROMIUM"] ?? browserPath() },
    reporters: ["default", ...(report === undefined ? [] : [vitestReport(report)])],
    pool: "threads",
    maxWorkers: 2,
    // They end what hangs: a test that waits on a busy machine has not failed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
