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
    words: [],
    about: "names every host, what it has and what is in use",
    run: async (config) => say(await withDatabase(config, listHosts), "There is no host"),
  },
  remote(
    "add",
    ["HOST", "ssh://USER@MACHINE | tcp+tls://MACHINE:PORT"],
    "looks at a machine with a Docker Engine and adds it",
    {
      "home-root": "FOLDER",
      reach: "ADDRESS",
    },
  ),
  remote("check", ["HOST"], "looks at all that it needs"),
  remote("firewall", ["HOST", "GATEWAY_ADDRESS..."], "prints the rules for that machine's root"),
  remote("remove", ["HOST"], "takes it away, when nothing is left on it"),
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
  {
    name: "gpus list",
    words: [],
    about: "names every GPU, where it is and who has it",
    run: async (config) => say(await withDatabase(config, listGpus), "There is no GPU"),
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

/** A command about a host on another machine. */
function remote(name: string, words: readonly string[], about: string, options: Record<string, string> = {}): Command {
  return {
    ...{ name: `hosts ${name}`, words, options, about },
    run: async (config, given, said) =>
      console.log(await withDatabase(config, (db) => hostCommand({ db, config }, name, given, said))),
  };
}

async function drain(config: Config, id = ""): Promise<void> {
  const notified = await withDatabase(config, (db) => drainHost(db, announcerOf(config), id));
  console.log(
    notified === undefined
      ? `${id} is draining already`
      : `${id} takes no new environments; ${notified} owners are told`,
  );
}

async function undrain(config: Config, id = ""): Promise<void> {
  const drained = await withDatabase(config, (db) => undrainHost(db, id));
  console.log(drained ? `${id} takes environments again` : `${id} was not draining`);
}

async function lose(config: Config, id: string, isMeant: boolean): Promise<string> {
  if (!isMeant) {
    const { environments, homes } = await withDatabase(config, (db) => countOnHost(db, id));
    return `This ends the ${environments} environments on ${id} for good, with the files of ${homes} homes, and pays back what could not be used: npm run operator -- hosts lost ${id} --yes`;
  }
  const notified = await withDatabase(config, (db) => loseHost(db, announcerOf(config), id));
  const next = "start the server again, and remove it when hosts list says that nothing is left";
  return notified === undefined
    ? `${id} is lost already: ${next}`
    : `${id} is lost, ${notified} owners are told: ${next}`;
}

async function quarantine(config: Config, id = "", ...said: string[]): Promise<void> {
  const held = await withDatabase(config, (db) => quarantineGpu(db, id, said.join(" ").trim()));
  console.log(held ? `${id} is leased to nobody else; who has it keeps it to the end` : `${id} is leased to nobody`);
}

async function release(config: Config, id = ""): Promise<void> {
  const was = await withDatabase(config, (db) => releaseGpu(db, id));
  console.log(was ? `${id} is leased again` : `${id} was not put aside`);
}

function say(lines: readonly string[], none: string): void {
  console.log(lines.length > 0 ? lines.join("\n") : none);
}
