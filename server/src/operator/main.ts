import { join, resolve } from "node:path";
import { type Config, ConfigError, readConfig } from "../config.ts";
import { type Db, openDatabase, SchemaError } from "../database/database.ts";
import { EmbeddedDatabaseError, embeddedConnection } from "../database/embedded.ts";
import { bridgeName } from "../drivers/docker-network.ts";
import { applyWall, engineNameservers, unwallCommands, wallCommands } from "../drivers/docker-wall.ts";
import { DriverError } from "../drivers/driver.ts";
import { imageOf } from "../drivers/image-catalogue.ts";
import { prepareRuntime, runtimeTypes } from "../drivers/runtimes.ts";
import { checkWall } from "../drivers/wall-watch.ts";
import { countOn } from "../environments/lost-hosts.ts";
import { installationOf } from "../installation.ts";
import { announcer } from "../notifications/announcer.ts";
import { liftHold } from "../payments/account-holds.ts";
import { declineRefund, grantRefund, previewRefund, RefundRefused } from "../payments/decide-refund.ts";
import { embeddedGatewayPath, readAccount } from "../payments/embedded-gateway/embedded-gateway.ts";
import { formatAmount } from "../payments/format-amount.ts";
import { CapacityRefused } from "./capacity-refused.ts";
import { examine } from "./doctor.ts";
import { listGpus, quarantineGpu, releaseGpu } from "./gpus.ts";
import { hostCommand } from "./host-commands.ts";
import { drainHost, listHosts, undrainHost } from "./hosts.ts";
import { describeRefund, listRefundRequests } from "./refunds.ts";
import { loseHost } from "./remote-hosts.ts";

/** npm run operator -- COMMAND: what an operator does on the machine itself (G68), with the server's own settings. */
const commands: Readonly<Record<string, (config: Config, ...words: string[]) => Promise<void>>> = {
  prepare,
  doctor,
  unflag,
  "gateway-keys": gatewayKeys,
  refunds,
  refund,
  decline,
  firewall,
  hosts,
  gpus,
};

const [command = "", ...words] = process.argv.slice(2);
try {
  await (commands[command] ?? usage)(readConfig(process.env), ...words);
} catch (error) {
  console.error(isForPeople(error) ? error.message : error);
  process.exit(1);
}

function isForPeople(error: unknown): error is Error {
  return [CapacityRefused, ConfigError, DriverError, EmbeddedDatabaseError, RefundRefused, SchemaError].some(
    (kind) => error instanceof kind,
  );
}

/** Makes a type startable with the process driver; a running server offers it within a minute. */
async function prepare({ dataDir, runtimesDir }: Config, type = ""): Promise<void> {
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
  const findings = [...(await beside(config, examine)), ...(await holes(config))];
  for (const { what, rows } of findings)
    console.log(`${what}: ${rows.length}${rows.map((row) => `\n  ${row}`).join("")}`);
  if (findings.some(({ rows }) => rows.length > 0)) process.exitCode = 1;
}

/** Looked for anew, from inside. */
async function holes(config: Config): Promise<{ what: string; rows: readonly string[] }[]> {
  if (config.runtime !== "docker") return [];
  const { id: install } = await beside(config, installationOf);
  const isHost = config.docker.reach === "published";
  const parts = { engine: config.docker, install, image: () => imageOf("jupyter"), isHost, port: config.port };
  return [{ what: "Holes in the wall around environments (operator -- firewall apply)", rows: await checkWall(parts) }];
}

/** The rules around the containers of this installation, as a shell script: root may run it, or has it run. */
async function firewall(config: Config, verb = "print"): Promise<void> {
  const script = { print: wallCommands, apply: wallCommands, remove: unwallCommands }[verb];
  if (!script) return usage();
  const { id } = await beside(config, installationOf);
  const commands = script(id, await engineNameservers());
  if (verb === "print") return console.log(commands);
  await applyWall(commands);
  console.log(`Done: the bridge ${bridgeName(id)} ${verb === "apply" ? "is walled" : "has no wall any more"}`);
}

/** For a client of one's own, such as the provider's SDK pointed at the embedded gateway. */
async function gatewayKeys(config: Config): Promise<void> {
  if (config.payments.kind !== "embedded")
    throw new ConfigError("This installation has keys of its provider: RAZORPAY_KEY_ID, RAZORPAY_KEY_SECRET");
  const { keyId, keySecret, webhookSecret } = await beside(config, readAccount);
  const address = `${config.appUrl ?? `http://localhost:${config.port}`}${embeddedGatewayPath}`;
  console.log(`${address}\nkey id ${keyId}\nkey secret ${keySecret}\nwebhook secret ${webhookSecret}`);
}

/** An account that lost a dispute may order again. */
async function unflag(config: Config, userId = ""): Promise<void> {
  if (!userId) return usage();
  const lifted = await beside(config, (db) => liftHold(db, userId));
  console.log(lifted > 0 ? `${userId} may order again` : `${userId} was not stopped`);
}

/** What users asked for, with what was paid and used. */
async function refunds(config: Config): Promise<void> {
  const rows = await beside(config, listRefundRequests);
  console.log(rows.length > 0 ? rows.join("\n") : "Nobody has asked for a refund");
}

/** Shows first what it would do; the running server sends the money. */
async function refund(config: Config, orderId = "", share = "", ...said: string[]): Promise<void> {
  if (!orderId || !/^(full|prorated|\d{1,12})$/.test(share)) return usage();
  const given = share === "full" || share === "prorated" ? share : Number(share);
  const options = ["--yes", "--again"];
  const words = said.filter((word) => !options.includes(word));
  const decision = {
    ...{ announce: announcerOf(config), orderId, words: words.join(" ").trim() },
    again: said.includes("--again"),
  };
  const lines = await beside(config, async (db) => {
    const { isNew, amountMinor, currency } = await previewRefund({ db, ...decision }, given, async (tx, granted) => {
      if (granted.isNew) console.log((await describeRefund(tx, orderId, granted)).join("\n"));
      return granted;
    });
    const amount = formatAmount(amountMinor, currency);
    if (!isNew) return `${amount} of ${orderId} was granted before and goes back. Another refund of it: add --again`;
    if (!said.includes("--yes"))
      return `Nothing is done yet. To do it: npm run operator -- refund ${[orderId, share, ...said].join(" ")} --yes`;
    const done = await grantRefund({ db, ...decision }, given);
    return `${formatAmount(done.amountMinor, currency)} of ${orderId} goes back`;
  });
  console.log(lines);
}

async function decline(config: Config, orderId = "", ...said: string[]): Promise<void> {
  const words = said.join(" ").trim();
  if (!orderId || !words) return usage();
  const decision = { announce: announcerOf(config), orderId, words };
  const isNew = await beside(config, (db) => declineRefund({ db, ...decision }));
  console.log(`The request of ${orderId} ${isNew ? "is" : "was"} declined`);
}

/** What runs environments, and taking it out of service (runtime.md 7). */
async function hosts(config: Config, verb = "", id = "", ...more: string[]): Promise<void> {
  if (verb === "list") return say(await beside(config, listHosts), "There is no host");
  if (["add", "check", "firewall", "remove"].includes(verb)) {
    const said = await beside(config, (db) => hostCommand({ db, config }, verb, [id, ...more]));
    return said === undefined ? usage() : console.log(said);
  }
  if (id && verb === "lost") return console.log(await lose(config, id, more));
  if (!id || (verb !== "drain" && verb !== "undrain")) return usage();
  if (verb === "undrain") {
    const drained = await beside(config, (db) => undrainHost(db, id));
    return console.log(drained ? `${id} takes environments again` : `${id} was not draining`);
  }
  const told = await beside(config, (db) => drainHost(db, announcerOf(config), id));
  console.log(
    told === undefined ? `${id} is draining already` : `${id} takes no new environments; ${told} owners are told`,
  );
}

async function lose(config: Config, id: string, options: readonly string[]): Promise<string> {
  if (options.join() !== "--yes") {
    const { environments, homes } = await beside(config, (db) => countOn(db, id));
    return `This ends the ${environments} environments on ${id} for good, with the files of ${homes} homes, and pays back what could not be used: npm run operator -- hosts lost ${id} --yes`;
  }
  const told = await beside(config, (db) => loseHost(db, announcerOf(config), id));
  const next = "start the server again, and remove it when hosts list says that nothing is left";
  return told === undefined ? `${id} is lost already: ${next}` : `${id} is lost, ${told} owners are told: ${next}`;
}

async function gpus(config: Config, verb = "", id = "", ...said: string[]): Promise<void> {
  if (verb === "list") return say(await beside(config, listGpus), "There is no GPU");
  const words = said.join(" ").trim();
  if (!id || (verb === "quarantine" ? !words : verb !== "release")) return usage();
  if (verb === "release") {
    const was = await beside(config, (db) => releaseGpu(db, id));
    return console.log(was ? `${id} is leased again` : `${id} was not put aside`);
  }
  const held = await beside(config, (db) => quarantineGpu(db, id, words));
  console.log(held ? `${id} is leased to nobody else; who has it keeps it to the end` : `${id} is leased to nobody`);
}

function say(lines: readonly string[], none: string): void {
  console.log(lines.length > 0 ? lines.join("\n") : none);
}

/** Bell and mail, as from the server; its address is the one that the settings give. */
function announcerOf({ appUrl, port, brand }: Config) {
  return announcer({ appUrl: appUrl ?? `http://localhost:${port}`, brandName: brand.name });
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
  console.error(`npm run operator -- prepare ${runtimeTypes.join(" | ")}
npm run operator -- doctor
npm run operator -- firewall [apply | remove]
npm run operator -- gateway-keys
npm run operator -- unflag USER
npm run operator -- refunds
npm run operator -- refund ORDER full | prorated | MINOR_UNITS [WORDS] [--again] [--yes]
npm run operator -- decline ORDER WORDS
npm run operator -- hosts list | drain HOST | undrain HOST | check HOST | lost HOST [--yes] | remove HOST
npm run operator -- hosts add HOST ssh://USER@MACHINE | tcp+tls://MACHINE:PORT [--home-root FOLDER] [--reach ADDRESS]
npm run operator -- hosts firewall HOST GATEWAY_ADDRESS...
npm run operator -- gpus list | quarantine GPU WORDS | release GPU`);
  process.exit(2);
}
