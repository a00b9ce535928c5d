import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sql } from "kysely";
import { inject } from "vitest";
import type { Db } from "../../database/database.ts";
import type { Diagnosis } from "../doctor/diagnose.ts";

const program = fileURLToPath(new URL("../main.ts", import.meta.url));

/** Returns the `DATABASE_URL` of a test's database. */
export async function databaseUrl(db: Db): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db);
  const { host = "", user = "", password = "" } = inject("cluster");
  return `postgresql://${user}:${encodeURIComponent(password)}@localhost/${rows[0]?.name}?host=${encodeURIComponent(host)}`;
}

export interface OperatorOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm run operator -- ...` as a child process; of this environment it inherits only PATH. */
export async function operator(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<OperatorOutput> {
  // biome-ignore lint/style/noProcessEnv: the programs of this machine
  const PATH = process.env["PATH"] ?? "";
  return await promisify(execFile)(process.execPath, [program, ...args], { env: { PATH, ENV_FILE: "", ...env } }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: OperatorOutput) => ({ code, stdout, stderr }),
  );
}

/** Runs `doctor` and returns the findings by check; `found` has only checks with findings. */
export async function askDoctor(db: Db, env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await operator(["doctor", "--json"], {
    DATABASE_URL: await databaseUrl(db),
    ...env,
  });
  if (!stdout.startsWith("{")) throw new Error(`doctor printed no JSON: ${stderr || stdout}`);
  const { notes, findings } = JSON.parse(stdout) as Diagnosis;
  const found = findings.filter(({ rows }) => rows.length > 0);
  return { code, notes, all: findings, found: Object.fromEntries(found.map(({ what, rows }) => [what, rows])) };
}
