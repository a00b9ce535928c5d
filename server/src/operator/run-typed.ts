import { AppError } from "../app-error.ts";
import { ConfigError, readConfig } from "../config/config.ts";
import { CatalogueError } from "../config/read-catalogue-file.ts";
import { readSettingsFile } from "../config/settings-file.ts";
import { SchemaError } from "../database/database.ts";
import { EmbeddedDatabaseError } from "../database/embedded-database-error.ts";
import { DriverError } from "../drivers/driver.ts";
import { RefundRefused } from "../payments/refunds/grant-refund.ts";
import { BackupRefused } from "./backup/backup-refused.ts";
import { CapacityRefused } from "./capacity/capacity-refused.ts";
import { commands } from "./commands.ts";
import { type Command, type Options, parseCommand, UsageError, usageOf } from "./parse-command.ts";
import { DatabaseUnreachable } from "./with-database.ts";

/** EX_CONFIG of sysexits.h: the chart tries a migration again that ended with another code (G210). */
const refusedSettings = 78;

/** Runs the command that was typed, and prints. @returns the exit code */
export async function runTyped(
  typed: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  process.exitCode = 0;
  try {
    const parsed = parseCommand(commands, typed);
    if ("help" in parsed) console.log(parsed.help);
    else await runCommand(parsed.command, parsed.args, parsed.options, environment);
    return Number(process.exitCode);
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\n${error.usage}`);
      return 2;
    }
    console.error(isExpected(error) ? error.message : error);
    return typed[0] === "migrate" && isFinal(error) ? refusedSettings : 1;
  }
}

async function runCommand(
  command: Command,
  args: readonly string[],
  options: Options,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  try {
    await command.run(readConfig(readSettingsFile(environment).variables), args, options);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usageOf([command])) : error;
  }
}

/** Settings, and a database of another version, are the same at the next try. */
function isFinal(error: unknown): boolean {
  if (error instanceof DatabaseUnreachable) return false;
  return [CatalogueError, ConfigError, SchemaError].some((kind) => error instanceof kind);
}

/** Its message is enough for the operator: no stack. */
function isExpected(error: unknown): error is Error {
  return [
    AppError,
    BackupRefused,
    CapacityRefused,
    CatalogueError,
    ConfigError,
    DriverError,
    EmbeddedDatabaseError,
    RefundRefused,
    SchemaError,
  ].some((kind) => error instanceof kind);
}
