import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { isIPv4, isIPv6 } from "node:net";
import { promisify } from "node:util";
import { bridgeName } from "../containers/ensure-network.ts";

/**
 * Where no run may go (docs/internals/runtime.md): this machine's networks, other machines of ours, the provider's
 * metadata.
 */
const closed = {
  iptables: [
    ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
    ...["192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"],
  ],
  // The last two carry IPv4 addresses, private ones too.
  ip6tables: ["::/127", "fc00::/7", "fe80::/10", "ff00::/8", "64:ff9b::/96", "2002::/16"],
} as const;

/** Mail is sent by spammers from here, and by nobody else. */
const smtpPorts = "25,465,587";

/** Of new connections of one run. More than any notebook opens, far less than a scan or a flood; beyond it they wait a second. */
const newConnections = { above: "100/second", burst: 300 };

type Command = keyof typeof closed;

/**
 * Shell commands that put the wall around the bridge of an installation; run again, they change nothing. Chains of its
 * own for each of IPv4 and IPv6, replaced in one step: what a run sends to this machine, what it sends through it, and,
 * where the gateways' addresses are named, what others send to it. Replies pass, so that the gateway reaches the runs. On
 * a bridge of its own the engine asks the name servers from within the run (Docker 20 to 25), and theirs may be private
 * addresses: port 53 of exactly these is open.
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
 * The rules that are not there, as iptables would be told them; nothing when the firewall is whole. Only root sees them.
 * Throws where there is no iptables.
 */
export async function missingRules(install: string, nameservers: readonly string[]): Promise<readonly string[]> {
  const each = (["iptables", "ip6tables"] as const).map((command) => {
    const own = nameservers.filter(command === "iptables" ? isIPv4 : isIPv6);
    const { input, output } = chains(install);
    const rules = outward(command, install, own).flatMap(([chain, list]) => list.map((rule) => `${chain} ${rule}`));
    const jumps = [`INPUT -i ${bridgeName(install)} -j ${input}`, `"$through" -i ${bridgeName(install)} -j ${output}`];
    const look = (rule: string) => `${command} -w 5 -C ${rule} 2>/dev/null || echo ${command} ${rule}`;
    return `command -v ${command} >/dev/null\n${findThrough(command)}\n${[...jumps, ...rules].map(look).join("\n")}`;
  });
  const { stdout } = await asRoot(`set -e\n${each.join("\n")}`);
  return stdout.split("\n").filter((line) => line !== "");
}

/** Where rules about what passes through this machine belong: the engine's own chain for that, where it has one. */
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

/** What a run sends: to its machine nothing, through it only to the public networks. */
function outward(command: Command, install: string, nameservers: readonly string[]) {
  const { input, output } = chains(install);
  const names = nameservers.flatMap((server) =>
    ["udp", "tcp"].map((kind) => `-d ${server} -p ${kind} --dport 53 -j RETURN`),
  );
  // Without these two kinds of message no IPv6 neighbour is found, not even the way out.
  const neighbours =
    command === "ip6tables" ? ["135", "136"].map((type) => `-p icmpv6 --icmpv6-type ${type} -j RETURN`) : [];
  const toHost = [replies, ...neighbours, ...names, "-j DROP"];
  const through = [
    replies,
    ...names,
    // The engine keeps runs apart too, but of IPv6 only where it was told to.
    `-o ${bridgeName(install)} -j DROP`,
    ...closed[command].map((range) => `-d ${range} -j DROP`),
    `-p tcp -m multiport --dports ${smtpPorts} -j DROP`,
    `-m hashlimit --hashlimit-name ${output} --hashlimit-mode srcip --hashlimit-above ${newConnections.above} --hashlimit-burst ${newConnections.burst} -j DROP`,
  ];
  return [[input, toHost] as const, [output, through] as const];
}

/** In front of what other firewalls let through when it comes; that it stays there is what the probe is for. */
function jump(command: Command, from: string, rule: string): string {
  return `${command} -w 5 -C ${from} ${rule} 2>/dev/null || ${command} -w 5 -I ${from} 1 ${rule}`;
}

const chains = (install: string) => ({
  input: `BERTH-IN-${install.slice(0, 8)}`,
  output: `BERTH-OUT-${install.slice(0, 8)}`,
  entry: `BERTH-TO-${install.slice(0, 8)}`,
});

/** Shell commands that take it away again, also where it never was. */
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

/** Runs such commands. Throws with the words of the one that failed: not root, or no iptables. */
export async function runFirewallCommands(commands: string): Promise<void> {
  await asRoot(commands);
}

async function asRoot(commands: string): Promise<{ stdout: string }> {
  const path = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";
  return await promisify(execFile)("/bin/sh", ["-c", commands], { env: { PATH: path }, timeout: 20_000 });
}

/** Name servers that the engine of this machine gives its containers: its own setting, else those of the machine. */
export async function engineNameservers(): Promise<readonly string[]> {
  const settings = await readFile("/etc/docker/daemon.json", "utf8").catch(() => "{}");
  const { dns = [] } = JSON.parse(settings) as { dns?: string[] };
  if (dns.length > 0) return dns;
  const files = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return nameserversIn(texts.join("\n"));
}

/** Of a `resolv.conf`. One on the machine's own loopback is asked by the engine, outside of the run. */
export function nameserversIn(text: string): readonly string[] {
  const found = [...text.matchAll(/^nameserver\s+(\S+)/gm)].map((match) => match[1] ?? "");
  return [...new Set(found)].filter((server) => !server.startsWith("127.") && server !== "::1");
}
