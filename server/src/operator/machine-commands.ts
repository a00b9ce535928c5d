import { join, resolve } from "node:path";
import { recipes } from "@berth/contract";
import { type Config, ConfigError, version } from "../config/config.ts";
import { EmbeddedDatabaseError } from "../database/embedded-database-error.ts";
import { bridgeName } from "../drivers/docker/containers/ensure-network.ts";
import {
  engineNameservers,
  firewallCommands,
  removalCommands,
  runFirewallCommands,
} from "../drivers/docker/firewall/firewall-rules.ts";
import { ownerOfHomes } from "../drivers/homes/claim-homes.ts";
import { prepareRuntime } from "../drivers/process/prepare-runtime.ts";
import { installationOf } from "../installation/installation.ts";
import { checkHealth } from "./check-health.ts";
import { checkStart } from "./check-start.ts";
import { diagnose, reportOf } from "./doctor/diagnose.ts";
import { type Command, usage } from "./parse-command.ts";
import { printJson } from "./print-rows.ts";
import { runningProcesses } from "./process-registry.ts";
import { DatabaseUnreachable, withDatabase } from "./with-database.ts";

/** Checks and preparations of the machine itself. */
export const machineCommands: readonly Command[] = [
  {
    name: "doctor",
    args: [],
    options: { json: "" },
    example: "doctor --json",
    about: "checks money, machines, mail, disks, certificates and processes; ends with 1 when it finds something",
    run: (config, _, { json }) => doctor(config, json !== undefined),
  },
  {
    name: "health",
    args: [],
    example: "health",
    about: "asks this machine's server whether it is ready; ends with 1 when it is not",
    run: (config) => health(config),
  },
  {
    name: "migrate",
    args: [],
    example: "migrate",
    about:
      "refuses what a start would, then migrates the database to this version: once, before the processes of a cluster start",
    run: (config) => migrate(config),
  },
  {
    name: "prepare",
    args: [recipes.join(" | ")],
    example: "prepare pytorch",
    about: "makes a type startable on this machine without Docker",
    run: (config, args) => prepare(config, ...args),
  },
  {
    name: "firewall",
    args: ["[apply | remove]"],
    example: "firewall apply",
    about: "prints the rules around containers of this machine, or changes them as root",
    run: (config, args) => firewall(config, ...args),
  },
];

async function health(config: Config): Promise<void> {
  const problem = await checkHealth(config);
  if (problem === undefined) return console.log("ready");
  console.error(problem);
  process.exitCode = 1;
}

async function migrate(config: Config): Promise<void> {
  if (config.database.kind === "external") await checkStart(config);
  await withDatabase(config, async () => console.log(`The database fits version ${version}.`), { keep: false });
}

/** Makes a type startable with the process driver; a running server offers it within a minute. */
async function prepare({ dataDir, runtimesDir }: Config, type = ""): Promise<void> {
  if (!recipes.includes(type)) return usage(`There is no type ${type}.`);
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
  if (asJson) printJson(diagnosis);
  else console.log(reportOf(diagnosis));
  if (diagnosis.findings.some(({ rows }) => rows.length > 0)) process.exitCode = 1;
}

/** Prints the firewall rules of this installation as a shell script, or runs it as root. */
async function firewall(config: Config, verb = "print"): Promise<void> {
  if (verb === "remove") return await removeFirewall(config);
  if (verb !== "print" && verb !== "apply") return usage(`firewall does not take ${verb}.`);
  const { id } = await withDatabase(config, installationOf);
  const commands = firewallCommands(id, await engineNameservers());
  if (verb === "print") return console.log(commands);
  await runFirewallCommands(commands);
  console.log(`Done: the bridge ${bridgeName(id)} is isolated`);
}

/** Works without the server too, which is stopped before Berth is removed; a server that runs applies the rules again. */
async function removeFirewall(config: Config): Promise<void> {
  const running = await withDatabase(config, async (db) => ({
    id: (await installationOf(db)).id,
    servers: (await runningProcesses(db)).length,
  })).catch((error: unknown) => {
    if (error instanceof EmbeddedDatabaseError || error instanceof DatabaseUnreachable) return undefined;
    throw error;
  });
  const id = running?.id ?? (await ownerOfHomes(join(resolve(config.dataDir), "homes")));
  if (id === undefined)
    throw new ConfigError(
      `${resolve(config.dataDir)} has no homes of an installation: set DATA_DIR, or start the database.`,
    );
  await runFirewallCommands(removalCommands(id));
  console.log(`Done: the bridge ${bridgeName(id)} has no firewall any more`);
  if (running?.servers) console.log("The server runs, and applies it again within a minute: stop it first.");
}
