import { join, resolve } from "node:path";
import { type Config, ConfigError, readConfig } from "../config/config.ts";
import { SchemaError } from "../database/database.ts";
import { EmbeddedDatabaseError } from "../database/embedded.ts";
import { bridgeName } from "../drivers/docker/containers/ensure-network.ts";
import {
  engineNameservers,
  firewallCommands,
  removalCommands,
  runFirewallCommands,
} from "../drivers/docker/firewall/firewall-rules.ts";
import { DriverError } from "../drivers/driver.ts";
import { prepareRuntime, runtimeTypes } from "../drivers/process/prepare-runtime.ts";
import { installationOf } from "../installation/installation.ts";
import { RefundRefused } from "../payments/refunds/grant-refund.ts";
import { capacityCommands } from "./capacity/capacity-commands.ts";
import { CapacityRefused } from "./capacity/capacity-refused.ts";
import { diagnose, reportOf } from "./doctor/diagnose.ts";
import { moneyCommands } from "./money-commands.ts";
import { type Command, type Options, parseCommand, UsageError, usage, usageOf } from "./parse-command.ts";
import { withDatabase } from "./with-database.ts";

/** npm run operator -- COMMAND: the operator's commands on the machine itself (G68), with the server's settings. */
const commands: readonly Command[] = [
  {
    name: "doctor",
    args: [],
    options: { json: "" },
    about: "checks money, machines, mail, disks, certificates and processes; ends with 1 when it finds something",
    run: (config, _, { json }) => doctor(config, json !== undefined),
  },
  {
    name: "prepare",
    args: [runtimeTypes.join(" | ")],
    about: "makes a type startable on this machine without Docker",
    run: (config, args) => prepare(config, ...args),
  },
  {
    name: "firewall",
    args: ["[apply | remove]"],
    about: "prints the rules around containers of this machine, or changes them as root",
    run: (config, args) => firewall(config, ...args),
  },
  ...moneyCommands,
  ...capacityCommands,
];

try {
  const parsed = parseCommand(commands, process.argv.slice(2));
  if ("help" in parsed) console.log(parsed.help);
  else await runCommand(parsed.command, parsed.args, parsed.options);
} catch (error) {
  if (error instanceof UsageError) {
    console.error(`${error.message}\n\n${error.usage}`);
    process.exit(2);
  }
  console.error(isExpected(error) ? error.message : error);
  process.exit(1);
}

async function runCommand(command: Command, args: readonly string[], options: Options): Promise<void> {
  try {
    await command.run(readConfig(process.env), args, options);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usageOf([command])) : error;
  }
}

/** Its message is enough for the operator: no stack. */
function isExpected(error: unknown): error is Error {
  return [CapacityRefused, ConfigError, DriverError, EmbeddedDatabaseError, RefundRefused, SchemaError].some(
    (kind) => error instanceof kind,
  );
}

/** Makes a type startable with the process driver; a running server offers it within a minute. */
async function prepare({ dataDir, runtimesDir }: Config, type = ""): Promise<void> {
  if (!runtimeTypes.includes(type)) return usage(`There is no type ${type}.`);
  const runtimes = resolve(runtimesDir ?? join(dataDir, "runtimes"));
  let printed = -1;
  const progress = (percent: number) => {
    const whole = Math.floor(percent);
    if (whole > printed) console.log(`${type}: ${whole} %`);
    printed = Math.max(printed, whole);
  };
  await prepareRuntime(runtimes, type, progress, { asked: true });
  console.log(`${type} is prepared in ${runtimes}`);
}

/** Changes nothing; ends with 1 when something is found. */
async function doctor(config: Config, asJson: boolean): Promise<void> {
  const diagnosis = await withDatabase(config, (db) => diagnose(db, config));
  console.log(asJson ? JSON.stringify(diagnosis, null, 2) : reportOf(diagnosis));
  // A check that timed out may still be waiting.
  process.exit(diagnosis.findings.some(({ rows }) => rows.length > 0) ? 1 : 0);
}

/** Prints the firewall rules of this installation as a shell script, or runs it as root. */
async function firewall(config: Config, verb = "print"): Promise<void> {
  const script = { print: firewallCommands, apply: firewallCommands, remove: removalCommands }[verb];
  if (!script) return usage(`firewall does not take ${verb}.`);
  const { id } = await withDatabase(config, installationOf);
  const commands = script(id, await engineNameservers());
  if (verb === "print") return console.log(commands);
  await runFirewallCommands(commands);
  console.log(`Done: the bridge ${bridgeName(id)} ${verb === "apply" ? "is isolated" : "has no firewall any more"}`);
}
