import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "../../../..");
const installed = join(root, "node_modules/.cache/berth/auth-emulator/node_modules/firebase-tools");

/** Why there are no tests on Firebase's emulator; undefined where there is one. */
export const noEmulator: string | undefined = existsSync(installed)
  ? undefined
  : "Firebase's Auth emulator is not installed: npm run auth-emulator -- install";

/** Starts an emulator on a free port. */
export async function startAuthEmulator(): Promise<{ readonly host: string; readonly stop: () => Promise<void> }> {
  const script = join(root, "scripts/auth-emulator.mjs");
  const child = spawn(process.execPath, [script, "0"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout }))
    if (/^127\.0\.0\.1:\d+$/.test(line)) return { host: line, stop: () => end(child) };
  throw new Error("the Auth emulator ended before it listened");
}

async function end(child: ReturnType<typeof spawn>): Promise<void> {
  if (child.exitCode !== null || !child.kill()) return;
  await once(child, "exit");
}
