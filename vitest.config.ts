import { defineConfig } from "vitest/config";
import { vitestReport } from "./scripts/tests/vitest-report.ts";
import { browserPath } from "./testing/browser.ts";
import { environment } from "./testing/environment.ts";

const { chromium, vitestReport: report } = environment;

export default defineConfig({
  test: {
    include: ["**/*.test.ts", "**/*.test.tsx"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    globalSetup: ["testing/build-server.ts", "server/src/database/testing-setup.ts"],
    env: { CHROMIUM: chromium ?? browserPath() },
    reporters: ["default", ...(report === undefined ? [] : [vitestReport(report)])],
    pool: "threads",
    maxWorkers: 2,
    // Files share their worker's modules: importing the server anew for each file took a fifth of all time. What a test
    // changes in a module, a global or the environment, it puts back.
    isolate: false,
    // They end what hangs: a test that waits on a busy machine has not failed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
