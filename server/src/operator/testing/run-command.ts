import { onTestFinished, vi } from "vitest";
import { readConfig } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import { commands } from "../commands.ts";
import { parseCommand, UsageError } from "../parse-command.ts";
import { databaseUrl, type OperatorOutput } from "./run-operator.ts";

/** Returns a function that runs a command as `npm run operator -- ...` does, in this process; with the database given. */
export async function commandRunner(db?: Db, env: Readonly<Record<string, string>> = {}) {
  const config = readConfig({
    ...(db && { DATABASE_URL: await databaseUrl(db) }),
    APP_URL: "http://localhost:4000",
    ...env,
  });
  const printed: string[] = [];
  const spy = vi.spyOn(console, "log").mockImplementation((text: string) => void printed.push(text));
  onTestFinished(() => spy.mockRestore());
  return async (...typed: readonly string[]): Promise<OperatorOutput> => {
    printed.length = 0;
    process.exitCode = 0;
    try {
      const parsed = parseCommand(commands, typed);
      if ("help" in parsed) return { code: 0, stdout: parsed.help, stderr: "" };
      await parsed.command.run(config, parsed.args, parsed.options);
      return { code: process.exitCode, stdout: printed.join("\n"), stderr: "" };
    } catch (error) {
      const stderr = error instanceof Error ? error.message : String(error);
      return { code: error instanceof UsageError ? 2 : 1, stdout: printed.join("\n"), stderr };
    } finally {
      process.exitCode = 0;
    }
  };
}
