import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { bridgeName, ensureNetwork, networkName } from "../docker/containers/ensure-network.ts";
import { engine, shell } from "./isolated-runs.ts";

const { docker } = engine;

/** Addresses to which only the test's own bridges have routes: the machine itself is not affected. */
export const outside = {
  metadata: "169.254.169.254",
  private: ["10.77.7.7", "172.16.7.7", "192.168.77.7", "100.64.7.7"],
  private6: "fd77::7",
  names: "10.77.7.53",
  public: "203.0.113.7",
  public6: "2001:db8:7::7",
} as const;

const outsidePorts = [25, 80, 443, 465, 587];

/**
 * A plain bridge, one of ours, and one of ours with IPv6 and public addresses, all with routes to the same outside and to
 * a listener of this machine. `close` removes everything.
 */
export async function openOutsideWorld() {
  const tag = randomBytes(4).toString("hex");
  const [install, install6] = [`${tag}4444`, `${tag.slice(0, 7)}x6666`];
  const plain = `plain-${tag}`;
  const bridges = [`bp-${tag}`, bridgeName(install), bridgeName(install6)];
  const closing = new AsyncDisposableStack();
  const subnet = (prefix: string) => `${prefix}:${tag.slice(0, 4)}:${tag.slice(4)}::/64`;
  // Public addresses, and an engine without isolation: no other rule separates the runs.
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
    // Not from the engine's own ranges, which may contain one of the private addresses outside.
    await bridge(plain, `bp-${tag}`, [`10.78.${Number.parseInt(tag, 16) % 256}.0/24`, subnet("fd78")]);
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
