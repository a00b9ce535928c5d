import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { isIPv4, isIPv6 } from "node:net";
import { promisify } from "node:util";
import { bridgeName } from "../containers/ensure-network.ts";

/**
 * Networks that no run may reach (docs/internals/runtime.md): this machine's, other private ones, the provider's metadata.
 */
const closed = {
  iptables: [
    ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
    ...["192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"],
  ],
  // The last two carry IPv4 addresses, private ones too.
  ip6tables: ["::/127", "fc00::/7", "fe80::/10", "ff00::/8", "64:ff9b::/96", "2002::/16"],
} as const;

/** TCP ports that are closed on every destination: SMTP, against spam. */
const closedPorts = "25,465,587";

/** Rate limit of new connections of one run: more than any notebook opens, far less than a scan or a flood. */
const newConnections = { above: "100/second", burst: 300 };

type Command = keyof typeof closed;

/**
 * Shell commands that apply the firewall around the bridge of an installation; run again, they change nothing. They replace
 * our chains for IPv4 and for IPv6 in one step: traffic from runs to this machine, traffic from runs through it and, where
 * the gateways' addresses are given, traffic to runs. Replies pass, so that the gateway reaches the runs. Docker 20 to 25
 * ask the name servers from within the run, and these may have private addresses: port 53 of exactly these is open.
 */
export function firewallCommands(
  install: string,
  nameservers: readonly string[],
  gateways: readonly string[] = [],
): string {
  const each = (["iptables", "ip6tables"] as const).map((command) => {
    const own = (addresses: readonly string[]) => addresses.filter(command === "iptables" ? isIPv4 : isIPv6);
    return commandsOf(command, install, own(nameservers), gateways.length > 0 ? own(gateways) : undefined);
  });
  return `set -e\n${each.join("")}`;
}

const replies = "-m conntrack --ctstate ESTABLISHED,RELATED -j RETURN";

/**
 * The missing rules of this machine, each as arguments of iptables; empty when the firewall is complete. Rules for traffic
 * to runs are applied on remote hosts only. For root only. Throws without iptables.
 */
export async function missingRules(install: string, nameservers: readonly string[]): Promise<readonly string[]> {
  const each = (["iptables", "ip6tables"] as const).map((command) => {
    const own = nameservers.filter(command === "iptables" ? isIPv4 : isIPv6);
    const { input, output } = chains(install);
    const rules = outward(command, install, own).flatMap(([chain, list]) => list.map((rule) => `${chain} ${rule}`));
    const jumps = [`INPUT -i ${bridgeName(install)} -j ${input}`, `"$through" -i ${bridgeName(install)} -j ${output}`];
    const check = (rule: string) => `${command} -w 5 -C ${rule} 2>/dev/null || echo ${command} ${rule}`;
    return `command -v ${command} >/dev/null\n${findThrough(command)}\n${[...jumps, ...rules].map(check).join("\n")}`;
  });
  const stdout = await runFirewallCommands(`set -e\n${each.join("\n")}`);
  return stdout.split("\n").filter((line) => line !== "");
}

/** The chain for forwarded traffic: the engine's own, where it has one. */
const findThrough = (command: Command) =>
  `through=DOCKER-USER\n${command} -w 5 -n -L DOCKER-USER >/dev/null 2>&1 || through=FORWARD`;

function commandsOf(
  command: Command,
  install: string,
  nameservers: readonly string[],
  gateways: readonly string[] | undefined,
): string {
  const { input, output, entry } = chains(install);
  const inward = gateways && [replies, ...gateways.map((address) => `-s ${address} -j RETURN`), "-j DROP"];
  const all: readonly (readonly [chain: string, rules: readonly string[]])[] = [
    ...outward(command, install, nameservers),
    ...(inward ? [[entry, inward] as const] : []),
  ];
  return `${command}-restore --noflush --wait 5 <<'RULES'
*filter
${all.map(([chain]) => `:${chain} - [0:0]`).join("\n")}
${all.flatMap(([chain, rules]) => rules.map((rule) => `-A ${chain} ${rule}`)).join("\n")}
COMMIT
RULES
${findThrough(command)}
${jump(command, "INPUT", `-i ${bridgeName(install)} -j ${input}`)}
${jump(command, '"$through"', `-i ${bridgeName(install)} -j ${output}`)}
${inward ? `${jump(command, '"$through"', `-o ${bridgeName(install)} -j ${entry}`)}\n` : ""}`;
}

/** Rules for traffic from runs: nothing to their machine, and through it only to public networks. */
function outward(command: Command, install: string, nameservers: readonly string[]) {
  const { input, output } = chains(install);
  const names = nameservers.flatMap((server) =>
    ["udp", "tcp"].map((kind) => `-d ${server} -p ${kind} --dport 53 -j RETURN`),
  );
  // IPv6 needs these two messages to find any neighbour, the router included.
  const neighbours =
    command === "ip6tables" ? ["135", "136"].map((type) => `-p icmpv6 --icmpv6-type ${type} -j RETURN`) : [];
  const toHost = [replies, ...neighbours, ...names, "-j DROP"];
  const through = [
    replies,
    ...names,
    // The engine isolates runs too, but in IPv6 only where it was configured.
    `-o ${bridgeName(install)} -j DROP`,
    ...closed[command].map((range) => `-d ${range} -j DROP`),
    `-p tcp -m multiport --dports ${closedPorts} -j DROP`,
    `-m hashlimit --hashlimit-name ${output} --hashlimit-mode srcip --hashlimit-above ${newConnections.above} --hashlimit-burst ${newConnections.burst} -j DROP`,
  ];
  return [[input, toHost] as const, [output, through] as const];
}

/** In front of the rules of other firewalls at that moment; the probe finds a rule that is put before it later. */
function jump(command: Command, from: string, rule: string): string {
  return `${command} -w 5 -C ${from} ${rule} 2>/dev/null || ${command} -w 5 -I ${from} 1 ${rule}`;
}

const chains = (install: string) => ({
  input: `BERTH-IN-${install.slice(0, 8)}`,
  output: `BERTH-OUT-${install.slice(0, 8)}`,
  entry: `BERTH-TO-${install.slice(0, 8)}`,
});

/** Shell commands that remove the firewall; no-op where it was never applied. */
export function removalCommands(install: string): string {
  const { input, output, entry } = chains(install);
  const bridge = bridgeName(install);
  const jumps = [
    `INPUT -i ${bridge} -j ${input}`,
    ...["DOCKER-USER", "FORWARD"].flatMap((from) => [
      `${from} -i ${bridge} -j ${output}`,
      `${from} -o ${bridge} -j ${entry}`,
    ]),
  ];
  return (["iptables", "ip6tables"] as const)
    .flatMap((command) => [
      ...jumps.map((rule) => `while ${command} -w 5 -D ${rule} 2>/dev/null; do :; done`),
      ...[input, output, entry].map(
        (chain) => `${command} -w 5 -F ${chain} 2>/dev/null && ${command} -w 5 -X ${chain}`,
      ),
    ])
    .concat("true")
    .join("\n");
}

/** Throws with the stderr of the command that failed: not root, or no iptables. */
export async function runFirewallCommands(commands: string): Promise<string> {
  const path = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";
  const options = { env: { PATH: path }, timeout: 20_000 };
  return (await promisify(execFile)("/bin/sh", ["-c", commands], options)).stdout;
}

/** Name servers that the engine of this machine gives to containers: its own setting, else the machine's. */
export async function engineNameservers(): Promise<readonly string[]> {
  const settings = await readFile("/etc/docker/daemon.json", "utf8").catch(() => "{}");
  const { dns = [] } = JSON.parse(settings) as { dns?: string[] };
  if (dns.length > 0) return dns;
  const files = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return nameserversIn(texts.join("\n"));
}

/** Name servers in a `resolv.conf`, without those on loopback: the engine asks these outside of the run. */
export function nameserversIn(text: string): readonly string[] {
  const found = [...text.matchAll(/^nameserver\s+(\S+)/gm)].map((match) => match[1] ?? "");
  return [...new Set(found)].filter((server) => !server.startsWith("127.") && server !== "::1");
}
