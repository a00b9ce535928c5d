import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Customer } from "../../testing/customer.ts";
import type { Product } from "../../testing/product.ts";

const version = "4.32.5";
const cache = join(import.meta.dirname, "../../node_modules/.cache/berth");
const examples = 20;

/**
 * Schemathesis makes requests from `/openapi.json` alone, and chains of calls whose replies lead to the next. It may find no
 * 5xx. Returns how many requests it made. Installed in a cache on first use, not a dependency.
 * @throws what it found
 */
export async function runSchemathesis({ url }: Product, customer: Customer, seed: number): Promise<string> {
  const folder = join(cache, `schemathesis-${version}`);
  const config = join(folder, "schemathesis.toml");
  install(folder);
  // Nothing in the document supplies the caller's own id.
  writeFileSync(config, `[parameters]\nuser_id = "${customer.userId}"\n`);
  const base = url.replace("localhost", "127.0.0.1");
  // Awaited, because a blocked process would take connections for open that the server has closed meanwhile.
  const { code, stdout } = await promisify(execFile)(
    join(folder, "bin", "schemathesis"),
    [
      ...["--config-file", config, "run", `${base}/openapi.json`, "--url", base],
      ...["-H", `Authorization: Bearer ${customer.idToken}`, "--checks", "not_a_server_error", "--no-color"],
      ...["--max-examples", String(examples), "--seed", String(seed)],
      // They would end the sign-in that the others need.
      ...["--exclude-path-regex", "/auth/logout|/sign-ins|password$", "--exclude-operation-id", "deleteAccount"],
    ],
    { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
  ).then(
    (ended) => ({ code: 0, stdout: ended.stdout }),
    (error: { readonly code: number; readonly stdout: string }) => error,
  );
  const counted = /(\d+) generated, (\d+) passed/.exec(stdout);
  if (code !== 0 || !counted) throw new Error(`Schemathesis ended with ${code}:\n${stdout.slice(-8000)}`);
  const operations = /Tested: (\d+)/.exec(stdout)?.[1];
  return `${counted[1]} requests to ${operations} calls, chains among them, 0 of 5xx`;
}

function install(folder: string): void {
  const marker = join(folder, "installed");
  if (existsSync(marker)) return;
  mkdirSync(cache, { recursive: true });
  execFileSync("python3", ["-m", "venv", folder], { stdio: "inherit" });
  execFileSync(join(folder, "bin", "pip"), ["install", "--quiet", `schemathesis==${version}`], { stdio: "inherit" });
  writeFileSync(marker, "");
}
