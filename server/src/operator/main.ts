import { join, resolve } from "node:path";
import { ConfigError, readConfig } from "../config.ts";
import { DriverError } from "../drivers/driver.ts";
import { prepareRuntime, runtimeTypes } from "../drivers/runtimes.ts";

/** npm run operator -- COMMAND: what an operator does on the machine itself (G68), with the server's own settings. */
const commands: Readonly<Record<string, (argument: string) => Promise<void>>> = { prepare };

const [command = "", argument = ""] = process.argv.slice(2);
try {
  await (commands[command] ?? usage)(argument);
} catch (error) {
  console.error(error instanceof ConfigError || error instanceof DriverError ? error.message : error);
  process.exit(1);
}

/** Makes a type startable with the process driver; a running server offers it within ten minutes. */
async function prepare(type: string): Promise<void> {
  if (!runtimeTypes.includes(type)) return usage();
  const { dataDir, runtimesDir } = readConfig(process.env);
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

async function usage(): Promise<void> {
  console.error(`npm run operator -- prepare ${runtimeTypes.join(" | ")}`);
  process.exit(2);
}
