import { join, resolve } from "node:path";
import { type Config, ConfigError, readConfig } from "../config.ts";
import { type Db, openDatabase, SchemaError } from "../database/database.ts";
import { EmbeddedDatabaseError, embeddedConnection } from "../database/embedded.ts";
import { DriverError } from "../drivers/driver.ts";
import { prepareRuntime, runtimeTypes } from "../drivers/runtimes.ts";
import { liftHold } from "../payments/account-holds.ts";
import { examine } from "./doctor.ts";

/** npm run operator -- COMMAND: what an operator does on the machine itself (G68), with the server's own settings. */
const commands: Readonly<Record<string, (config: Config, argument: string) => Promise<void>>> = {
  prepare,
  doctor,
  unflag,
};

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
async function doctor(config: Config): Promise<void> {
  const findings = await beside(config, examine);
  for (const { what, rows } of findings)
    console.log(`${what}: ${rows.length}${rows.map((row) => `\n  ${row}`).join("")}`);
  if (findings.some(({ rows }) => rows.length > 0)) process.exitCode = 1;
}

/** An account that lost a dispute may order again. */
async function unflag(config: Config, userId: string): Promise<void> {
  if (!userId) return usage();
  const lifted = await beside(config, (db) => liftHold(db, userId));
  console.log(lifted > 0 ? `${userId} may order again` : `${userId} was not stopped`);
}

/** On the running server's database, as it is. */
async function beside<T>({ database: settings, dataDir }: Config, work: (db: Db) => Promise<T>): Promise<T> {
  const connection =
    settings.kind === "external"
      ? { connectionString: settings.url }
      : embeddedConnection(join(resolve(dataDir), "database"));
  const database = await openDatabase(connection, console.error, { keep: true });
  try {
    return await work(database.db);
  } finally {
    await database.close();
  }
}

async function usage(): Promise<void> {
  console.error(
    `npm run operator -- prepare ${runtimeTypes.join(" | ")}\nnpm run operator -- doctor\nnpm run operator -- unflag USER`,
  );
  process.exit(2);
}
