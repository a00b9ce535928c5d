import { request } from "node:https";
import { text } from "node:stream/consumers";
import { until } from "../../testing/customer.ts";
import { openCustomerNetwork } from "../../testing/customer-network.ts";
import { commandBlocks } from "./command-blocks.ts";
import { app, envHost, rentDeployed, timed } from "./rent-deployed.ts";
import { type Machine, startMachine } from "./start-machine.ts";

const page = "docs/operate/install.md";

interface Way {
  /** The section with its commands, after those of the machine itself. */
  readonly section: string;
  /** What the page expects on the machine: an archive, images from a registry. Its time does not count. */
  readonly prepare: (machine: Machine) => Promise<void>;
}

export interface Installed {
  /** Of all commands together. */
  readonly seconds: number;
  readonly isRented: boolean;
}

/**
 * A fresh Debian machine, the commands of the page as they stand, and the first rental in a browser through TLS and wildcard
 * names. @throws at the first command that fails, with its output
 */
export async function installByPage({ section, prepare }: Way): Promise<Installed> {
  const machine = await startMachine([app, envHost]);
  try {
    let seconds = await runBlocks(machine, "The machine");
    await machine.load("debian:bookworm-slim", "debian:bookworm-slim");
    await prepare(machine);
    seconds += await runBlocks(machine, section);
    console.log(`${section}: ${seconds.toFixed(0)} s of commands`);
    const authority = await machine.shell.run("cat /etc/berth/tls/ca.pem");
    await until("JupyterLab to be offered", () => isOpen(machine.address, authority), 120_000);
    const certificate = await machine.shell.run("cat /etc/berth/tls/fullchain.pem");
    const isRented = await rentAt(machine.address, certificate);
    return { seconds, isRented };
  } finally {
    await machine.remove();
  }
}

async function rentAt(address: string, certificate: string): Promise<boolean> {
  const network = await openCustomerNetwork("berth-prove/machine");
  try {
    return await rentDeployed({ url: `https://${app}`, address, certificate, launcher: network.launcher });
  } finally {
    await network.close();
  }
}

async function runBlocks(machine: Machine, section: string): Promise<number> {
  let total = 0;
  for (const block of commandBlocks(page, section)) {
    const [, seconds] = await timed(() => machine.shell.run(block));
    console.log(`${seconds.toFixed(1).padStart(6)} s  ${block.split("\n")[0]}`);
    total += seconds;
  }
  return total;
}

/** Whether JupyterLab can be rented, and environments' names lead here too, each with a certificate of the page's authority. */
async function isOpen(host: string, ca: string): Promise<boolean> {
  const capacity = await read(app, "/capacity", { host, ca });
  const environment = await read(`any.${envHost}`, "/", { host, ca });
  return /"jupyter"[^}]*"ready"/.test(capacity ?? "") && environment !== undefined;
}

async function read(servername: string, path: string, place: { host: string; ca: string }) {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const sent = request({ ...place, servername, path, headers: { host: servername }, agent: false });
  sent.on("response", (response) => void text(response).then(resolve)).on("error", () => resolve(undefined));
  sent.end();
  return await promise;
}
