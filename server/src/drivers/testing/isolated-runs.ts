import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { chown, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ContainerCreateOptions, ContainerInspectInfo, HostConfig } from "dockerode";
import { containerBody, ephemeral, runUser } from "../docker/containers/container-body.ts";
import { openEngine } from "../docker/engine/engine.ts";
import type { Spec } from "../driver.ts";

const image = "berth/jupyter:local";
export const socketPath = "/var/run/docker.sock";
export const engine = openEngine({ socketPath });
const { docker } = engine;

/** Why the firewall cannot be tested on this machine; undefined where it can. */
export async function whyNoFirewall(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "it takes root to make networks and firewall rules";
  for (const command of ["docker", "ip", "iptables", "ip6tables", "mkfs.ext4", "mount"]) {
    try {
      execFileSync("/bin/sh", ["-c", `command -v ${command}`]);
    } catch {
      return `there is no command ${command}`;
    }
  }
  try {
    const found = await docker.listImages({ filters: { reference: [image] } });
    return found.length > 0 ? undefined : `the image ${image} is not built: npm run images -- jupyter`;
  } catch (error) {
    return `no Docker Engine can be used: ${(error as Error).message}`;
  }
}

export async function shell(commands: string): Promise<string> {
  return (await promisify(execFile)("/bin/sh", ["-ec", commands])).stdout;
}

export interface Ran {
  readonly output: string;
  readonly info: ContainerInspectInfo;
}

/** A new folder as a run's home. */
export async function newHome(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), "berth-home-"));
  await chown(home, runUser, runUser);
  return home;
}

interface Asked {
  readonly network: string;
  readonly home?: string;
  readonly limits?: Partial<Spec["limits"]>;
  /** Additional options, such as a name server of its own. */
  readonly host?: HostConfig;
}

const roomy = { cpus: 1, memoryMb: 512, shmMb: 16, pids: 256, diskGb: 1 };

/** Runs a Python program in a container with the engine's defaults, as root. */
export function runPlain(program: string, host: HostConfig, user = "0"): Promise<Ran> {
  return finish({ Image: image, User: user, HostConfig: host }, program);
}

/** Runs the same program with the limits and rights of a run. */
export async function runIsolated(program: string, { home, ...asked }: Asked): Promise<Ran> {
  const own = home ?? (await newHome());
  try {
    return await finish(isolatedBody({ ...asked, home: own }), program);
  } finally {
    if (!home) await rm(own, { recursive: true, force: true });
  }
}

export function isolatedBody({ network, home = "", limits, host }: Asked) {
  const spec = { id: "", generation: 1, image, token: "open", home: "", gpus: [], limits: { ...roomy, ...limits } };
  const place = { ...ephemeral, install: "isolation-test", image, home, network };
  const body = containerBody(spec, place) as ContainerCreateOptions;
  return { ...body, HostConfig: { ...body.HostConfig, ...host } };
}

async function finish(body: ContainerCreateOptions, program: string): Promise<Ran> {
  const container = await docker.createContainer({
    ...body,
    Tty: true,
    Entrypoint: ["/usr/bin/python3"],
    Cmd: ["-c", program],
    // As JupyterLab.
    WorkingDir: "/home/berth",
  });
  try {
    await container.start();
    await container.wait();
    const output = String(await container.logs({ stdout: true, stderr: true })).trim();
    return { output, info: await container.inspect() };
  } finally {
    await container.remove({ force: true });
  }
}

/** A second run on a network, listening at 8888; removed on disposal. */
export async function startNeighbour(network: string) {
  const program =
    "import socket, time\nwith socket.create_server(('::', 8888), family=socket.AF_INET6, dualstack_ipv6=True): time.sleep(60)";
  const body = {
    Image: image,
    Entrypoint: ["/usr/bin/python3"],
    Cmd: ["-c", program],
    HostConfig: { NetworkMode: network },
  };
  const container = await docker.createContainer(body);
  await container.start();
  const { Networks } = (await container.inspect()).NetworkSettings;
  const own = Networks[network];
  return {
    address: own?.IPAddress ?? "",
    gateway: own?.Gateway ?? "",
    address6: own?.GlobalIPv6Address ?? "",
    gateway6: own?.IPv6Gateway ?? "",
    [Symbol.asyncDispose]: () => container.remove({ force: true }),
  };
}
