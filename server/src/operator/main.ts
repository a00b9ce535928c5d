import { join, resolve } from "node:path";
import { type Config, ConfigError, readConfig } from "../config/config.ts";
import { type Db, isLostConnection, openDatabase, SchemaError } from "../database/database.ts";
import { EmbeddedDatabaseError, embeddedConnection } from "../database/embedded.ts";
import { bridgeName } from "../drivers/docker/containers/ensure-network.ts";
import {
  engineNameservers,
  firewallCommands,
  removalCommands,
  runFirewallCommands,
} from "../drivers/docker/firewall/firewall-rules.ts";
import { DriverError } from "../drivers/driver.ts";
import { prepareRuntime, runtimeTypes } from "../drivers/process/prepare-runtime.ts";
import { countOnHost } from "../environments/hosts/decommissioned-hosts.ts";
import { installationOf } from "../installation/installation.ts";
import { commandLogger } from "../logging/create-logger.ts";
import { announcer } from "../notifications/announcer.ts";
import { liftAccountHold } from "../payments/disputes/lift-account-hold.ts";
import { embeddedProviderPath, readAccount } from "../payments/embedded-provider/embedded-provider.ts";
import { formatAmount } from "../payments/ledger/format-amount.ts";
import { declineRefund, grantRefund, previewRefund, RefundRefused } from "../payments/refunds/grant-refund.ts";
import { loseHost } from "./capacity/add-host.ts";
import { CapacityRefused } from "./capacity/capacity-refused.ts";
import { drainHost, listHosts, undrainHost } from "./capacity/drain-host.ts";
import { hostCommand } from "./capacity/host-command.ts";
import { listGpus, quarantineGpu, releaseGpu } from "./capacity/quarantine-gpu.ts";
import { diagnose, reportOf } from "./doctor/diagnose.ts";
import { type Command, type Options, parseCommand, UsageError, usageOf } from "./parse-command.ts";
import { describeRefund, listRefundRequests } from "./refund-requests.ts";

/** npm run operator -- COMMAND: what an operator does on the machine itself (G68), with the server's own settings. */
const commands: readonly Command[] = [
  {
    name: "doctor",
    words: [],
    options: { json: "" },
    about: "looks at money, machines, mail, disks, certificates and processes; ends with 1 when it finds something",
    run: (config, _, { json }) => doctor(config, json !== undefined),
  },
  {
    name: "prepare",
    words: [runtimeTypes.join(" | ")],
    about: "makes a type startable on this machine without Docker",
    run: (config, words) => prepare(config, ...words),
  },
  {
    name: "firewall",
    words: ["[apply | remove]"],
    about: "prints the rules around containers of this machine, or changes them as root",
    run: (config, words) => firewall(config, ...words),
  },
  {
    name: "refunds",
    words: [],
    about: "lists who asked for a refund, with what was paid and used",
    run: (config) => refunds(config),
  },
  {
    name: "refund",
    words: ["ORDER", "full | prorated | MINOR_UNITS", "[WORDS...]"],
    options: { yes: "", again: "" },
    about: "pays back, asked or not; the customer reads the words; without --yes it says what that would do",
    run: (config, words, options) => refund(config, words, options),
  },
  {
    name: "decline",
    words: ["ORDER", "WORDS..."],
    about: "declines a request; the customer reads the words",
    run: (config, words) => decline(config, ...words),
  },
  {
    name: "unflag",
    words: ["USER"],
    about: "lets an account order again that lost a dispute",
    run: (config, words) => unflag(config, ...words),
  },
  {
    name: "gateway-keys",
    words: [],
    about: "prints address and keys of the embedded payment provider",
    run: (config) => gatewayKeys(config),
  },
  ...hostCommands(),
  {
    name: "gpus list",
    words: [],
    about: "names every GPU, where it is and who has it",
    run: async (config) => say(await beside(config, listGpus), "There is no GPU"),
  },
  {
    name: "gpus quarantine",
    words: ["GPU", "WORDS..."],
    about: "leases it to nobody any more, for the reason given",
    run: (config, words) => quarantine(config, ...words),
  },
  {
    name: "gpus release",
    words: ["GPU"],
    about: "leases it again",
    run: (config, words) => release(config, ...words),
  },
];

function hostCommands(): readonly Command[] {
  const far = (
    name: string,
    words: readonly string[],
    about: string,
    options: Record<string, string> = {},
  ): Command => ({
    ...{ name: `hosts ${name}`, words, options, about },
    run: async (config, given, said) =>
      console.log(await beside(config, (db) => hostCommand({ db, config }, name, given, said))),
  });
  return [
    {
      name: "hosts list",
      words: [],
      about: "names every host, what it has and what is in use",
      run: async (config) => say(await beside(config, listHosts), "There is no host"),
    },
    far(
      "add",
      ["HOST", "ssh://USER@MACHINE | tcp+tls://MACHINE:PORT"],
      "looks at a machine with a Docker Engine and adds it",
      {
        "home-root": "FOLDER",
        reach: "ADDRESS",
      },
    ),
    far("check", ["HOST"], "looks at all that it needs"),
    far("firewall", ["HOST", "GATEWAY_ADDRESS..."], "prints the rules for that machine's root"),
    far("remove", ["HOST"], "takes it away, when nothing is left on it"),
    {
      name: "hosts drain",
      words: ["HOST"],
      about: "rents nothing new on it and tells the owners of what is there",
      run: (config, words) => drain(config, ...words),
    },
    {
      name: "hosts undrain",
      words: ["HOST"],
      about: "rents on it again",
      run: (config, words) => undrain(config, ...words),
    },
    {
      name: "hosts lost",
      words: ["HOST"],
      options: { yes: "" },
      about: "ends all that was on a machine that never comes back; without --yes it says what that would be",
      run: async (config, [id = ""], { yes }) => console.log(await lose(config, id, yes !== undefined)),
    },
  ];
}

try {
  const parsed = parseCommand(commands, process.argv.slice(2));
  if ("help" in parsed) console.log(parsed.help);
  else await runCommand(parsed.command, parsed.words, parsed.options);
} catch (error) {
  if (error instanceof UsageError) {
    console.error(`${error.message}\n\n${error.usage}`);
    process.exit(2);
  }
  console.error(isForPeople(error) ? error.message : error);
  process.exit(1);
}

async function runCommand(command: Command, words: readonly string[], options: Options): Promise<void> {
  try {
    await command.run(readConfig(process.env), words, options);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usageOf([command])) : error;
  }
}

function isForPeople(error: unknown): error is Error {
  return [CapacityRefused, ConfigError, DriverError, EmbeddedDatabaseError, RefundRefused, SchemaError].some(
    (kind) => error instanceof kind,
  );
}

/** Makes a type startable with the process driver; a running server offers it within a minute. */
async function prepare({ dataDir, runtimesDir }: Config, type = ""): Promise<void> {
  if (!runtimeTypes.includes(type)) return usage(`There is no type ${type}.`);
  const runtimes = resolve(runtimesDir ?? join(dataDir, "runtimes"));
  let shown = -1;
  const progress = (percent: number) => {
    const whole = Math.floor(percent);
    if (whole > shown) console.log(`${type}: ${whole} %`);
    shown = Math.max(shown, whole);
  };
  await prepareRuntime(runtimes, type, progress, { asked: true });
  console.log(`${type} is prepared in ${runtimes}`);
}

/** Looks beside the running server and changes nothing; ends with 1 when something is found. */
async function doctor(config: Config, asJson: boolean): Promise<void> {
  const diagnosis = await beside(config, (db) => diagnose(db, config));
  console.log(asJson ? JSON.stringify(diagnosis, null, 2) : reportOf(diagnosis));
  // A look that ran out of its time may still wait for something.
  process.exit(diagnosis.findings.some(({ rows }) => rows.length > 0) ? 1 : 0);
}

/** The rules around the containers of this installation, as a shell script: root may run it, or has it run. */
async function firewall(config: Config, verb = "print"): Promise<void> {
  const script = { print: firewallCommands, apply: firewallCommands, remove: removalCommands }[verb];
  if (!script) return usage(`firewall does not take ${verb}.`);
  const { id } = await beside(config, installationOf);
  const commands = script(id, await engineNameservers());
  if (verb === "print") return console.log(commands);
  await runFirewallCommands(commands);
  console.log(`Done: the bridge ${bridgeName(id)} ${verb === "apply" ? "is walled" : "has no wall any more"}`);
}

/** For a client of one's own, such as the provider's SDK pointed at the embedded gateway. */
async function gatewayKeys(config: Config): Promise<void> {
  if (config.payments.kind !== "embedded")
    throw new ConfigError("This installation has keys of its provider: RAZORPAY_KEY_ID, RAZORPAY_KEY_SECRET");
  const { keyId, keySecret, webhookSecret } = await beside(config, readAccount);
  const address = `${config.appUrl ?? `http://localhost:${config.port}`}${embeddedProviderPath}`;
  console.log(`${address}\nkey id ${keyId}\nkey secret ${keySecret}\nwebhook secret ${webhookSecret}`);
}

/** An account that lost a dispute may order again. */
async function unflag(config: Config, userId = ""): Promise<void> {
  const lifted = await beside(config, (db) => liftAccountHold(db, userId));
  if (lifted > 0) return console.log(`${userId} may order again`);
  console.error(`No account ${userId} was stopped for a lost dispute; doctor names those that are.`);
  process.exitCode = 1;
}

/** What users asked for, with what was paid and used. */
async function refunds(config: Config): Promise<void> {
  const rows = await beside(config, listRefundRequests);
  console.log(rows.length > 0 ? rows.join("\n") : "Nobody has asked for a refund");
}

/** Shows first what it would do; the running server sends the money. */
async function refund(config: Config, given: readonly string[], options: Options): Promise<void> {
  const [orderId = "", share = "", ...words] = given;
  if (!/^(full|prorated|\d{1,12})$/.test(share)) return usage(`${share} is neither full, prorated nor an amount.`);
  const asked = share === "full" || share === "prorated" ? share : Number(share);
  const again = options["again"] !== undefined;
  const decision = { announce: announcerOf(config), orderId, words: words.join(" ").trim(), again };
  const lines = await beside(config, async (db) => {
    const { isNew, amountMinor, currency } = await previewRefund({ db, ...decision }, asked, async (tx, granted) => {
      if (granted.isNew) console.log((await describeRefund(tx, orderId, granted)).join("\n"));
      return granted;
    });
    const amount = formatAmount(amountMinor, currency);
    if (!isNew) return `${amount} of ${orderId} was granted before and goes back. Another refund of it: add --again`;
    if (options["yes"] === undefined)
      return `Nothing is done yet. To do it: npm run operator -- refund ${[...given, ...(again ? ["--again"] : [])].join(" ")} --yes`;
    const done = await grantRefund({ db, ...decision }, asked);
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

async function drain(config: Config, id = ""): Promise<void> {
  const notified = await beside(config, (db) => drainHost(db, announcerOf(config), id));
  console.log(
    notified === undefined
      ? `${id} is draining already`
      : `${id} takes no new environments; ${notified} owners are told`,
  );
}

async function undrain(config: Config, id = ""): Promise<void> {
  const drained = await beside(config, (db) => undrainHost(db, id));
  console.log(drained ? `${id} takes environments again` : `${id} was not draining`);
}

async function lose(config: Config, id: string, isMeant: boolean): Promise<string> {
  if (!isMeant) {
    const { environments, homes } = await beside(config, (db) => countOnHost(db, id));
    return `This ends the ${environments} environments on ${id} for good, with the files of ${homes} homes, and pays back what could not be used: npm run operator -- hosts lost ${id} --yes`;
  }
  const notified = await beside(config, (db) => loseHost(db, announcerOf(config), id));
  const next = "start the server again, and remove it when hosts list says that nothing is left";
  return notified === undefined
    ? `${id} is lost already: ${next}`
    : `${id} is lost, ${notified} owners are told: ${next}`;
}

async function quarantine(config: Config, id = "", ...said: string[]): Promise<void> {
  const held = await beside(config, (db) => quarantineGpu(db, id, said.join(" ").trim()));
  console.log(held ? `${id} is leased to nobody else; who has it keeps it to the end` : `${id} is leased to nobody`);
}

async function release(config: Config, id = ""): Promise<void> {
  const was = await beside(config, (db) => releaseGpu(db, id));
  console.log(was ? `${id} is leased again` : `${id} was not put aside`);
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
  const database = await openDatabase(connection, commandLogger, { keep: true }).catch((error) => {
    if (!isLostConnection(error)) throw error;
    throw settings.kind === "external"
      ? new ConfigError(`The database of DATABASE_URL cannot be reached: ${error.message}`)
      : new EmbeddedDatabaseError(
          `The server of ${resolve(dataDir)} does not run: start it (npm start), then ask again.`,
        );
  });
  try {
    return await work(database.db);
  } finally {
    await database.close();
  }
}

function usage(problem = "These words do not fit together."): never {
  throw new UsageError(problem);
}
