import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LaunchOptions } from "@playwright/test";

/**
 * Hands on options that start the browser in a customer's network, where the names of this machine lead to its address there.
 * The product must listen on that one too.
 */
export async function runInNetwork(
  options: LaunchOptions,
  image: string,
  use: (options: LaunchOptions) => Promise<void>,
): Promise<void> {
  // Only with an engine.
  const { openCustomerNetwork } = await import("../../testing/customer-network.ts");
  const { launcher, gateway, close } = await openCustomerNetwork(image);
  const folder = mkdtempSync(join(tmpdir(), "berth-browser-"));
  const executablePath = join(folder, "chromium");
  writeFileSync(executablePath, `#!/bin/sh\nexec ${launcher.join(" ")} '${options.executablePath}' "$@"\n`, {
    mode: 0o755,
  });
  const rules = ["localhost", "*.localhost"].map((name) => `MAP ${name} ${gateway}`);
  const args = [...(options.args ?? []), `--host-resolver-rules=${rules.join(",")}`];
  await use(launcher.length > 0 ? { ...options, executablePath, args } : options);
  rmSync(folder, { recursive: true });
  await close();
}
