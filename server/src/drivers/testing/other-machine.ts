import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import Docker from "dockerode";
import { recordLog } from "../../logging/testing/record-log.ts";
import { openRemote, type RemoteDeps, type RemoteHost, type RemoteMachine } from "../docker/open-remote.ts";
import { certificatesIn } from "./certificates-in.ts";
import { linkImage, loadImage } from "./copy-image.ts";
import { whyNoDocker } from "./docker-machine.ts";
import { openSecondEngine, type Placing, whyNoSecondEngine } from "./second-engine.ts";

const run = promisify(execFile);
const image = "berth/jupyter:local";

export async function whyNoRemote(): Promise<string | undefined> {
  return (await whyNoDocker()) ?? (await whyNoSecondEngine());
}

/**
 * Another machine, as far as a network goes: a namespace with one private address, and in it an engine that accepts
 * clients with a certificate of `ca`. It has the image that everything needs. Certificates end after `days`, by default 2.
 */
export async function openOtherMachine({ days, ...placing }: Omit<Placing, "space"> & { readonly days?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "berth-other-"));
  const space = `berth-${randomBytes(3).toString("hex")}`;
  const address = await openSpace(space);

  const certificates = certificatesIn(folder);
  const tls = await tlsOptions(certificates, address, days);
  const { engine, docker } = await openEngineWithImage({
    ...placing,
    space,
    options: [...tls, ...(placing.options ?? [])],
  });
  const remotes: RemoteMachine[] = [];
  let isClosed = false;
  const depsOf = (hosts: string, install: string) => remoteDeps(hosts, install, () => isClosed);
  const homeRoot = join(folder, "machine", "homes");
  return {
    folder,
    address,
    engine,
    certificates,
    homeRoot,
    url: `tcp+tls://${address}:2376`,
    docker,
    depsOf,
    keysOf: (id: string, names?: { ca?: string; cert?: string }) => copyKeys(folder, certificates, id, names),
    async open(
      host: Partial<RemoteHost> & { readonly address: string },
      hostsFolder: string,
      install: string,
    ): Promise<RemoteMachine> {
      const deps = depsOf(hostsFolder, install);
      const remote = await openRemote({ id: "gpu-1", homeRoot, reach: address, ...host }, deps);
      remotes.push(remote);
      return remote;
    },
    /** Shell commands as that machine's root. */
    async asRoot(commands: string): Promise<void> {
      await run("nsenter", [`--net=/run/netns/${space}`, "sh", "-c", commands]);
    },
    async close(): Promise<void> {
      isClosed = true;
      for (const remote of remotes) await remote.close();
      await engine.close();
      await run("ip", ["netns", "delete", space]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type MachineCertificates = ReturnType<typeof certificatesIn>;

async function tlsOptions(certificates: MachineCertificates, address: string, days = 2): Promise<readonly string[]> {
  for (const name of ["ca", "other-ca"]) await certificates.authority(name, days);
  await certificates.issue("server", { ca: "ca", address, days });
  await certificates.issue("client", { ca: "ca", days });
  const pem = (name: string) => certificates.at(`${name}.pem`);
  const files = [`--tlscacert=${pem("ca")}`, `--tlscert=${pem("server")}`, `--tlskey=${pem("server-key")}`];
  return ["-H", `tcp://${address}:2376`, "--tlsverify", ...files];
}

async function openEngineWithImage(placing: Placing) {
  let linked = false;
  const before = async (root: string) => {
    linked = await linkImage(root);
  };
  const engine = await openSecondEngine({ ...placing, before });
  const docker = new Docker({ socketPath: engine.socketPath });
  if (!linked) await loadImage(docker);
  return { engine, docker };
}

/** The hosts folder of a data folder, in which a host has this certificate and trusts this authority. */
function copyKeys(folder: string, certificates: MachineCertificates, id: string, { ca = "ca", cert = "client" } = {}) {
  const own = join(folder, "hosts", id);
  mkdirSync(own, { recursive: true });
  for (const [from, to] of [
    [ca, "ca"],
    [cert, "cert"],
    [`${cert}-key`, "key"],
  ])
    copyFileSync(certificates.at(`${from}.pem`), join(own, `${to}.pem`));
  return join(folder, "hosts");
}

/** Work in the background may be cut short once its machine, or the connection to it, is closed. */
export function remoteDeps(folder: string, install: string, isClosed: () => boolean): RemoteDeps {
  const { log } = recordLog((error) => {
    if (!isClosed()) throw error;
  });
  return { install, images: async () => image, replaced: async () => [], folder, sshAgent: undefined, log };
}

/** A network namespace with one address that this machine reaches. */
async function openSpace(space: string): Promise<string> {
  await run("ip", ["netns", "add", space]);
  const { far, net } = await claimNetwork(space);
  const address = `${net}.2`;
  for (const words of [
    ["address", "add", `${address}/30`, "dev", far],
    ["link", "set", far, "up"],
    ["link", "set", "lo", "up"],
  ])
    await run("ip", ["-n", space, ...words]);
  return address;
}

/** Two machines may open at once, and an address answers for one: the kernel gives the name of a link only once. */
async function claimNetwork(space: string): Promise<{ far: string; net: string }> {
  for (let third = 0; third < 256; third++) {
    const [near, far, net] = [`bn-${third}`, `bf-${third}`, `10.215.${third}`];
    try {
      await run("ip", ["link", "add", near, "type", "veth", "peer", "name", far, "netns", space]);
    } catch (error) {
      if (/File exists/.test(String(error))) continue;
      throw error;
    }
    await run("ip", ["address", "add", `${net}.1/30`, "dev", near]);
    await run("ip", ["link", "set", near, "up"]);
    return { far, net };
  }
  throw new Error("All 256 networks of other machines are taken");
}
