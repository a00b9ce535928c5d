import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Customer } from "../../testing/customer.ts";
import { type Product, removeFolder, temporaryFolder } from "../../testing/product.ts";
import { pythonTool } from "../../testing/python-tool.ts";

const examples = 20;

/**
 * Schemathesis makes requests from `/openapi.json` alone, and chains of calls whose replies lead to the next. It may find no
 * 5xx. Returns how many requests it made. Installed in a cache on first use, not a dependency.
 * @throws what it found
 */
export async function runSchemathesis({ url }: Product, customer: Customer, seed: number): Promise<string> {
  const program = join(pythonTool(["schemathesis==4.32.5"]), "schemathesis");
  const folder = temporaryFolder();
  const config = join(folder, "schemathesis.toml");
  // Nothing in the document supplies the caller's own id.
  writeFileSync(config, `[parameters]\nuser_id = "${customer.userId}"\n`);
  const base = url.replace("localhost", "127.0.0.1");
  // Awaited, because a blocked process would take connections for open that the server has closed meanwhile.
  const { code, stdout } = await promisify(execFile)(
    program,
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
  removeFolder(folder);
  const counted = /(\d+) generated, (\d+) passed/.exec(stdout);
  if (code !== 0 || !counted) throw new Error(`Schemathesis ended with ${code}:\n${stdout.slice(-8000)}`);
  const operations = /Tested: (\d+)/.exec(stdout)?.[1];
  return `${counted[1]} requests to ${operations} calls, chains among them, 0 of 5xx`;
}
