import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Builds the app with its pages beside the console, which share nothing, then compresses both. A failed step ends the build. */
const vite = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin", "vite.js");

await Promise.all([
  step(vite, "build").then(() => step("prerender.ts")),
  step(vite, "build", "--config", "vite.console.config.ts"),
]);
await step("compress.ts");

async function step(program: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [program, ...args], { cwd: import.meta.dirname, stdio: "inherit" });
  const [code] = await once(child, "exit");
  if (code !== 0) process.exit(Number(code ?? 1));
}
