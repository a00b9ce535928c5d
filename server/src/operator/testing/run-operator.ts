import { execFile } from "node:child_process";
import { format, promisify } from "node:util";
import { sql } from "kysely";
import { inject } from "vitest";
import type { Db } from "../../database/database.ts";
import { builtOperator } from "../../testing/built-programs.ts";
import type { Diagnosis } from "../doctor/diagnose.ts";
import { runTyped } from "../run-typed.ts";

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

/** Runs what `npm run operator -- ...` runs, in this process; of this environment it inherits only PATH. */
export async function operator(
  typed: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<OperatorOutput> {
  const printed = { stdout: "", stderr: "" };
  const { log, error } = console;
  const print = (stream: keyof typeof printed) => (text: unknown) => {
    printed[stream] += `${format(text)}\n`;
  };
  console.log = print("stdout");
  console.error = print("stderr");
  try {
    return { code: await runTyped(typed, environmentOf(env)), ...printed };
  } finally {
    Object.assign(console, { log, error });
    process.exitCode = 0;
  }
}

/** Runs `npm run operator -- ...` as a child process. */
export async function operatorProcess(
  typed: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<OperatorOutput> {
  const ran = promisify(execFile)(process.execPath, [builtOperator, ...typed], { env: environmentOf(env) });
  return await ran.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: OperatorOutput) => ({ code, stdout, stderr }),
  );
}

function environmentOf(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  // biome-ignore lint/style/noProcessEnv: the programs of this machine
  const PATH = process.env["PATH"] ?? "";
  return { PATH, ENV_FILE: "", ...env };
}

/** Runs `doctor` and returns the findings by check; `found` has only checks with findings. */
export async function askDoctor(db: Db, env: Readonly<Record<string, string>> = {}, run = operator) {
  const { code, stdout, stderr } = await run(["doctor", "--json"], {
    DATABASE_URL: await databaseUrl(db),
    ...env,
  });
  if (!stdout.startsWith("{")) throw new Error(`doctor printed no JSON: ${stderr || stdout}`);
  const { notes, findings } = JSON.parse(stdout) as Diagnosis;
  const found = findings.filter(({ rows }) => rows.length > 0);
  return { code, notes, all: findings, found: Object.fromEntries(found.map(({ what, rows }) => [what, rows])) };
}
