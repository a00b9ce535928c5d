import type { Config } from "../../config/config.ts";
import { countOnHost } from "../../environments/hosts/decommissioned-hosts.ts";
import type { Command } from "../parse-command.ts";
import { announcerOf, withDatabase } from "../with-database.ts";
import { loseHost } from "./add-host.ts";
import { drainHost, listHosts, undrainHost } from "./drain-host.ts";
import { hostCommand } from "./host-command.ts";
import { listGpus, quarantineGpu, releaseGpu } from "./quarantine-gpu.ts";

/** Hosts and GPUs. */
export const capacityCommands: readonly Command[] = [
  {
    name: "hosts list",
    args: [],
    about: "names every host, what it has and what is in use",
    run: async (config) => print(await withDatabase(config, listHosts), "There is no host"),
  },
  remote(
    "add",
    ["HOST", "ssh://USER@MACHINE | tcp+tls://MACHINE:PORT"],
    "checks a machine with a Docker Engine and adds it",
    {
      "home-root": "FOLDER",
      reach: "ADDRESS",
    },
  ),
  remote("check", ["HOST"], "checks everything that it needs"),
  remote("firewall", ["HOST", "GATEWAY_ADDRESS..."], "prints the rules for that machine's root"),
  remote("remove", ["HOST"], "removes it, when nothing is left on it"),
  {
    name: "hosts drain",
    args: ["HOST"],
    about: "rents nothing new on it and notifies the owners of its environments",
    run: (config, args) => drain(config, ...args),
  },
  {
    name: "hosts undrain",
    args: ["HOST"],
    about: "rents on it again",
    run: (config, args) => undrain(config, ...args),
  },
  {
    name: "hosts lost",
    args: ["HOST"],
    options: { yes: "" },
    about: "ends everything on a machine that never comes back; without --yes it only counts what would end",
    run: async (config, [id = ""], { yes }) => console.log(await lose(config, id, yes !== undefined)),
  },
  {
    name: "gpus list",
    args: [],
    about: "names every GPU, its host and its holder",
    run: async (config) => print(await withDatabase(config, listGpus), "There is no GPU"),
  },
  {
    name: "gpus quarantine",
    args: ["GPU", "WORDS..."],
    about: "stops leasing it, for the reason given",
    run: (config, args) => quarantine(config, ...args),
  },
  {
    name: "gpus release",
    args: ["GPU"],
    about: "leases it again",
    run: (config, args) => release(config, ...args),
  },
];

/** A command about a host on another machine. */
function remote(name: string, args: readonly string[], about: string, options: Record<string, string> = {}): Command {
  return {
    ...{ name: `hosts ${name}`, args, options, about },
    run: async (config, given, chosen) =>
      console.log(await withDatabase(config, (db) => hostCommand({ db, config }, name, given, chosen))),
  };
}

async function drain(config: Config, id = ""): Promise<void> {
  const notified = await withDatabase(config, (db) => drainHost(db, announcerOf(config), id));
  console.log(
    notified === undefined
      ? `${id} is draining already`
      : `${id} takes no new environments; ${notified} owners are notified`,
  );
}

async function undrain(config: Config, id = ""): Promise<void> {
  const drained = await withDatabase(config, (db) => undrainHost(db, id));
  console.log(drained ? `${id} takes environments again` : `${id} was not draining`);
}

async function lose(config: Config, id: string, isMeant: boolean): Promise<string> {
  if (!isMeant) {
    const { environments, homes } = await withDatabase(config, (db) => countOnHost(db, id));
    return `This ends the ${environments} environments on ${id} for good, with the files of ${homes} homes, and refunds their unused time: npm run operator -- hosts lost ${id} --yes`;
  }
  const notified = await withDatabase(config, (db) => loseHost(db, announcerOf(config), id));
  const next = "restart the server, and remove it when hosts list shows nothing left on it";
  return notified === undefined
    ? `${id} is lost already: ${next}`
    : `${id} is lost, ${notified} owners are notified: ${next}`;
}

async function quarantine(config: Config, id = "", ...reason: string[]): Promise<void> {
  const held = await withDatabase(config, (db) => quarantineGpu(db, id, reason.join(" ").trim()));
  console.log(held ? `${id} is quarantined; its holder keeps it to the end` : `${id} is quarantined`);
}

async function release(config: Config, id = ""): Promise<void> {
  const was = await withDatabase(config, (db) => releaseGpu(db, id));
  console.log(was ? `${id} can be leased again` : `${id} was not quarantined`);
}

function print(lines: readonly string[], none: string): void {
  console.log(lines.length > 0 ? lines.join("\n") : none);
}
