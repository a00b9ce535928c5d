import { defineConfig } from "vitest/config";
import { browserPath } from "./prove/browser.ts";

export default defineConfig({
  test: {
    include: ["**/*.test.ts", "**/*.test.tsx"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    globalSetup: ["server/src/database/testing-setup.ts"],
    env: { CHROMIUM: process.env["CHROMIUM"] ?? browserPath() },
    pool: "threads",
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
