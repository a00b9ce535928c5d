import { join, resolve } from "node:path";
import { type Config, ConfigError, readConfig } from "../config.ts";
import { openDatabase, SchemaError } from "../database/database.ts";
import { EmbeddedDatabaseError, embeddedConnection } from "../database/embedded.ts";
import { DriverError } from "../drivers/driver.ts";
import { prepareRuntime, runtimeTypes } from "../drivers/runtimes.ts";
import { examine } from "./doctor.ts";

/** npm run operator -- COMMAND: what an operator does on the machine itself (G68), with the server's own settings. */
const commands: Readonly<Record<string, (config: Config, argument: string) => Promise<void>>> = { prepare, doctor };

const [command = "", argument = ""] = process.argv.slice(2);
try {
  await (commands[command] ?? usage)(readConfig(process.env), argument);
} catch (error) {
  console.error(isForPeople(error) ? error.message : error);
  process.exit(1);
}

function isForPeople(error: unknown): error is Error {
  return [ConfigError, DriverError, EmbeddedDatabaseError, SchemaError].some((kind) => error instanceof kind);
}

/** Makes a type startable with the process driver; a running server offers it within ten minutes. */
async function prepare({ dataDir, runtimesDir }: Config, type: string): Promise<void> {
  if (!runtimeTypes.includes(type)) return usage();
  const runtimes = resolve(runtimesDir ?? join(dataDir, "runtimes"));
  let told = -1;
  const progress = (percent: number) => {
    const whole = Math.floor(percent);
    if (whole > told) console.log(`${type}: ${whole} %`);
    told = Math.max(told, whole);
  };
  await prepareRuntime(runtimes, type, progress, { asked: true });
  console.log(`${type} is prepared in ${join(runtimes, type)}`);
}

/** Looks beside the running server and changes nothing; ends with 1 when something is found. */
async function doctor({ database: settings, dataDir }: Config): Promise<void> {
  const connection =
    settings.kind === "external"
      ? { connectionString: settings.url }
      : embeddedConnection(join(resolve(dataDir), "database"));
  const database = await openDatabase(connection, console.error, { keep: true });
  const findings = await examine(database.db);
  await database.close();
  for (const { what, rows } of findings)
    console.log(`${what}: ${rows.length}${rows.map((row) => `\n  ${row}`).join("")}`);
  if (findings.some(({ rows }) => rows.length > 0)) process.exitCode = 1;
}

async function usage(): Promise<void> {
  console.error(`npm run operator -- prepare ${runtimeTypes.join(" | ")}\nnpm run operator -- doctor`);
  process.exit(2);
}
