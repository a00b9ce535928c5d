import { plural } from "@berth/contract";
import type { Config } from "../../config/config.ts";
import { countOnHost } from "../../environments/hosts/decommissioned-hosts.ts";
import { operatorCommand } from "../../text/operator-command.ts";
import type { Command, Options } from "../parse-command.ts";
import { printJson } from "../print-rows.ts";
import { announcerOf, authorOf, withDatabase } from "../with-database.ts";
import { loseHost } from "./add-host.ts";
import { drainHost, hostText, readHosts, undrainHost } from "./drain-host.ts";
import { hostCommand } from "./host-command.ts";
import { gpuText, quarantineGpu, readGpus, releaseGpu } from "./quarantine-gpu.ts";
import { movesText, readMoves } from "./read-moves.ts";

/** Hosts and GPUs. */
export const capacityCommands: readonly Command[] = [
  {
    name: "hosts list",
    args: [],
    options: { json: "" },
    about: "names every host, what it has and what is in use",
    example: "hosts list",
    run: async (config, _, options) =>
      print(await withDatabase(config, readHosts), hostText, options, "There is no host"),
  },
  remote(
    "add",
    ["HOST", "ssh://USER@MACHINE | tcp+tls://MACHINE:PORT | kubernetes://NAMESPACE"],
    "checks a machine with a Docker Engine, or a part of a cluster, and adds it",
    "hosts add gpu-1 ssh://berth@10.0.0.5",
    {
      ...{ "home-root": "FOLDER", reach: "ADDRESS" },
      ...{ nodes: "LABEL=VALUE,...", "runtime-class": "NAME", "storage-class": "NAME" },
      reason: "TEXT",
    },
  ),
  remote("check", ["HOST"], "checks everything that it needs", "hosts check gpu-1"),
  remote(
    "firewall",
    ["HOST", "GATEWAY_ADDRESS..."],
    "prints the rules for that machine's root",
    "hosts firewall gpu-1 10.0.0.2",
  ),
  remote("remove", ["HOST"], "removes it, when nothing is left on it", "hosts remove gpu-1", { reason: "TEXT" }),
  {
    name: "hosts drain",
    args: ["HOST"],
    options: { move: "", reason: "TEXT" },
    about:
      "rents nothing new on it and notifies the owners of its environments; with --move its files move to other hosts, until it is drained again without --move",
    example: "hosts drain gpu-1 --move --reason 'New disks on Monday'",
    run: (config, args, options) => drain(config, options, ...args),
  },
  {
    name: "hosts undrain",
    args: ["HOST"],
    options: { reason: "TEXT" },
    about: "rents on it again",
    example: "hosts undrain gpu-1",
    run: (config, args, options) => undrain(config, options, ...args),
  },
  {
    name: "hosts lost",
    args: ["HOST"],
    options: { yes: "", reason: "TEXT" },
    about: "ends everything on a machine that never comes back; without --yes it only counts what would end",
    example: "hosts lost gpu-1 --yes --reason 'It burnt'",
    run: async (config, [id = ""], options) => console.log(await lose(config, id, options)),
  },
  {
    name: "gpus list",
    args: [],
    options: { json: "" },
    about: "names every GPU, its host and its holder",
    example: "gpus list --json",
    run: async (config, _, options) => print(await withDatabase(config, readGpus), gpuText, options, "There is no GPU"),
  },
  {
    name: "gpus quarantine",
    args: ["GPU", "WORDS..."],
    about: "stops leasing it, for the reason given",
    example: "gpus quarantine GPU-5f1c Its fan is loud",
    run: (config, args) => quarantine(config, ...args),
  },
  {
    name: "gpus release",
    args: ["GPU"],
    options: { reason: "TEXT" },
    about: "leases it again",
    example: "gpus release GPU-5f1c --reason 'New fan'",
    run: (config, args, options) => release(config, options, ...args),
  },
];

/** A command about a host that an operator adds. */
function remote(name: string, args: readonly string[], about: string, example: string, options: Options = {}): Command {
  return {
    ...{ name: `hosts ${name}`, args, options, about, example },
    run: async (config, given, chosen) => {
      const author = authorOf(chosen);
      console.log(await withDatabase(config, (db) => hostCommand({ db, config, author }, name, given, chosen)));
    },
  };
}

async function drain(config: Config, options: Options, id = ""): Promise<void> {
  const moves = options["move"] !== undefined;
  const [notified, moving] = await withDatabase(config, async (db) => [
    await drainHost(db, announcerOf(config), id, authorOf(options), { moves }),
    moves ? movesText(await readMoves(db, id)) : undefined,
  ]);
  console.log(
    notified === undefined
      ? `${id} is draining already`
      : `${id} takes no new environments; ${plural(notified, "owner is", "owners are")} notified`,
  );
  if (moving) console.log(moving);
}

async function undrain(config: Config, options: Options, id = ""): Promise<void> {
  const drained = await withDatabase(config, (db) => undrainHost(db, announcerOf(config), id, authorOf(options)));
  console.log(drained ? `${id} takes environments again` : `${id} was not draining`);
}

async function lose(config: Config, id: string, options: Options): Promise<string> {
  if (options["yes"] === undefined) {
    const { environments, homes } = await withDatabase(config, (db) => countOnHost(db, id));
    return `This ends ${plural(environments, "environment")} on ${id} for good, with the files of ${plural(homes, "home")}, and refunds their unused time: ${operatorCommand(`hosts lost ${id} --yes`)}`;
  }
  const notified = await withDatabase(config, (db) => loseHost(db, announcerOf(config), id, authorOf(options)));
  const next = "restart the server, and remove it when hosts list shows nothing left on it";
  return notified === undefined
    ? `${id} is lost already: ${next}`
    : `${id} is lost, ${plural(notified, "owner is", "owners are")} notified: ${next}`;
}

async function quarantine(config: Config, id = "", ...reason: string[]): Promise<void> {
  const held = await withDatabase(config, (db) => quarantineGpu(db, id, authorOf({ reason: reason.join(" ").trim() })));
  console.log(held ? `${id} is quarantined; its holder keeps it to the end` : `${id} is quarantined`);
}

async function release(config: Config, options: Options, id = ""): Promise<void> {
  const was = await withDatabase(config, (db) => releaseGpu(db, id, authorOf(options)));
  console.log(was ? `${id} can be leased again` : `${id} was not quarantined`);
}

function print<Row>(rows: readonly Row[], textOf: (row: Row) => string, { json }: Options, none: string): void {
  if (json !== undefined) printJson(rows);
  else console.log(rows.length > 0 ? rows.map(textOf).join("\n") : none);
}
