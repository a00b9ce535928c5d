import { defineConfig } from "@playwright/test";
import { browserPath } from "../testing/browser.ts";
import { environment } from "../testing/environment.ts";

export default defineConfig({
  testDir: ".",
  globalSetup: "../testing/build-server.ts",
  testMatch: "**/*.spec.ts",
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  outputDir: "../test-results",
  reporter: environment.reported ? [["list"], ["json"]] : [["list"]],
  use: {
    actionTimeout: 20_000,
    viewport: { width: 1440, height: 900 },
    locale: "en-US",
    timezoneId: "America/New_York",
    contextOptions: { reducedMotion: "reduce" },
    // Traces record every frame and double the CPU time.
    trace: environment.trace ? "retain-on-failure" : "off",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: environment.chromium ?? browserPath(),
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--in-process-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        ...deployedArguments(),
      ],
    },
  },
});

/** Leads the names of a deployed installation to its address, and accepts its certificate alone. */
function deployedArguments(): string[] {
  if (!environment.deployed?.publicKeyHash) return [];
  const { url, envHost, address, publicKeyHash } = environment.deployed;
  const names = [new URL(url).hostname, `*.${envHost}`];
  return [
    `--host-resolver-rules=${names.map((name) => `MAP ${name} ${address}`).join(",")}`,
    `--ignore-certificate-errors-spki-list=${publicKeyHash}`,
  ];
}
