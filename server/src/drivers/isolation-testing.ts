import { execFile, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { chown, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ContainerCreateOptions, ContainerInspectInfo, HostConfig } from "dockerode";
import { containerBody, runUser } from "./docker-body.ts";
import { openEngine } from "./docker-engine.ts";
import { bridgeName, ensureNetwork, networkName } from "./docker-network.ts";
import type { Spec } from "./driver.ts";

const image = "berth/jupyter:local";
export const socketPath = "/var/run/docker.sock";
export const engine = openEngine({ socketPath });
const { docker } = engine;

/** Why the wall cannot be tried on this machine; undefined where it can. */
export async function whyNoWall(): Promise<string | undefined> {
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

/** Of a world that only packets of the test's own bridges are led to: nothing of it is seen on the machine itself. */
export const outside = {
  metadata: "169.254.169.254",
  // None in the ranges from which an engine takes its bridges.
  private: ["10.77.7.7", "172.16.7.7", "192.168.77.7", "100.64.7.7"],
  private6: "fd77::7",
  names: "10.77.7.53",
  public: "203.0.113.7",
  public6: "2001:db8:7::7",
} as const;

const outsidePorts = [25, 80, 443, 465, 587];

/**
 * A plain bridge, one of ours and one of ours with IPv6 and public addresses, all with the same world outside and a listener of this machine.
 * All of it ends with `close`.
 */
export async function openWorld() {
  const tag = randomBytes(4).toString("hex");
  const [install, install6] = [`${tag}4444`, `${tag.slice(0, 7)}x6666`];
  const plain = `plain-${tag}`;
  const bridges = [`bp-${tag}`, bridgeName(install), bridgeName(install6)];
  const closing = new AsyncDisposableStack();
  const subnet = (prefix: string) => `${prefix}:${tag.slice(0, 4)}:${tag.slice(4)}::/64`;
  // Public addresses, and an engine that lets runs speak to each other: no other rule keeps them apart.
  const publicSubnets = [`198.51.100.${16 + 16 * (Number.parseInt(tag, 16) % 15)}/28`, subnet("2001:db8")];
  const bridge = async (Name: string, interfaceName: string, subnets: readonly string[]) => {
    const Options = { "com.docker.network.bridge.name": interfaceName };
    const Config = subnets.map((Subnet) => ({ Subnet }));
    await docker.createNetwork({ Name, EnableIPv6: true, IPAM: { Config }, Options });
    closing.defer(() => docker.getNetwork(Name).remove());
  };
  try {
    const forwarding = await shell("sysctl net.ipv6.conf.all.forwarding net.ipv6.conf.default.forwarding | tr -d ' '");
    closing.defer(async () => void (await shell(`sysctl -q -w ${forwarding.trim().replaceAll("\n", " ")}`)));
    await bridge(plain, `bp-${tag}`, [subnet("fd78")]);
    await bridge(networkName(install6), bridgeName(install6), publicSubnets);
    await ensureNetwork(engine, install, AbortSignal.timeout(9_000));
    closing.defer(() => docker.getNetwork(networkName(install)).remove());
    await openOutside(closing, { tag, bridges });
    const api = createServer((socket) => socket.on("error", () => {}).end()).listen(0, "::");
    await once(api, "listening");
    closing.defer(() => void api.close());
    const { port } = api.address() as AddressInfo;
    return { install, install6, plain, port, close: () => closing.disposeAsync() };
  } catch (error) {
    await closing.disposeAsync();
    throw error;
  }
}

async function openOutside(
  closing: AsyncDisposableStack,
  { tag, bridges }: { tag: string; bridges: readonly string[] },
): Promise<void> {
  const table = 10_000 + (Number.parseInt(tag, 16) % 1_000_000);
  const space = `berth-${tag}`;
  const [here, there] = [`bh-${tag}`, `bt-${tag}`];
  const four = [outside.metadata, ...outside.private, outside.names, outside.public];
  const six = [outside.private6, outside.public6];
  closing.defer(async () => {
    await shell(
      `ip netns del ${space}; ${rules("del")}; ip route flush table ${table}; ip -6 route flush table ${table}`,
    );
  });
  function rules(verb: "add" | "del"): string {
    return bridges
      .flatMap((bridge) => ["-4", "-6"].map((kind) => `ip ${kind} rule ${verb} iif ${bridge} lookup ${table}`))
      .join("; ");
  }
  await shell(`
    ip netns add ${space}; ip link add ${here} type veth peer name ${there} netns ${space}
    ip addr add 198.51.100.1/30 dev ${here}; ip -6 addr add fd79::1/64 dev ${here} nodad; ip link set ${here} up
    in="ip -n ${space}"; $in link set lo up; $in link set ${there} up
    $in addr add 198.51.100.2/30 dev ${there}; $in -6 addr add fd79::2/64 dev ${there} nodad
    ${[...four, ...six].map((address) => `$in addr add ${address} dev lo`).join("; ")}
    $in route add default via 198.51.100.1; $in -6 route add default via fd79::1
    ${four.map((address) => `ip route add ${address} via 198.51.100.2 dev ${here} table ${table}`).join("; ")}
    ${six.map((address) => `ip -6 route add ${address} via fd79::2 dev ${here} table ${table}`).join("; ")}
    ${rules("add")}`);
  const script = fileURLToPath(new URL("isolation-targets.ts", import.meta.url));
  const child = spawn(
    "ip",
    ["netns", "exec", space, process.execPath, script, outside.names, ...outsidePorts.map(String)],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  closing.defer(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
}

export interface Ran {
  readonly output: string;
  readonly info: ContainerInspectInfo;
}

/** A new folder as a run's home, gone with the test's end. */
export async function newHome(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), "berth-home-"));
  await chown(home, runUser, runUser);
  return home;
}

interface Asked {
  readonly network: string;
  readonly home?: string;
  readonly limits?: Partial<Spec["limits"]>;
  /** What the test needs besides, such as a name server of its own. */
  readonly host?: HostConfig;
}

const roomy = { cpus: 1, memoryMb: 512, shmMb: 16, pids: 256, diskGb: 1 };

/** A Python program in a container as anybody would start it: root, the engine's own flags. */
export function runPlain(program: string, host: HostConfig, user = "0"): Promise<Ran> {
  return finish({ Image: image, User: user, HostConfig: host }, program);
}

/** The same program with everything that a run has and has not. */
export async function runWalled(program: string, { home, ...asked }: Asked): Promise<Ran> {
  const own = home ?? (await newHome());
  try {
    return await finish(walledBody({ ...asked, home: own }), program);
  } finally {
    if (!home) await rm(own, { recursive: true, force: true });
  }
}

export function walledBody({ network, home = "", limits, host }: Asked) {
  const spec = { id: "", generation: 1, image, token: "open", home: "", gpus: [], limits: { ...roomy, ...limits } };
  const place = {
    install: "isolation-test",
    image,
    home,
    network,
    reach: "network",
    cpus: 1,
    gpu: "none",
    openFiles: undefined,
  } as const;
  const body = containerBody(spec, place) as ContainerCreateOptions;
  return { ...body, HostConfig: { ...body.HostConfig, ...host } };
}

async function finish(body: ContainerCreateOptions, program: string): Promise<Ran> {
  const container = await docker.createContainer({
    ...body,
    Tty: true,
    Entrypoint: ["/usr/bin/python3"],
    Cmd: ["-c", program],
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

/** A second run on a network, listening at 8888; gone when it is disposed of. */
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
