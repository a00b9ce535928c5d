import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { recordLog, strictLog } from "../../logging/testing/record-log.ts";
import {
  engine,
  runIsolated,
  runPlain,
  shell,
  socketPath,
  startNeighbour,
  whyNoFirewall,
} from "../testing/isolated-runs.ts";
import { openOutsideWorld, outside } from "../testing/outside-world.ts";
import { bridgeName, networkName } from "./containers/ensure-network.ts";
import { firewallCommands, missingRules, removalCommands, runFirewallCommands } from "./firewall/firewall-rules.ts";
import { findLeaks, findMissingRules, startFirewall } from "./firewall/start-firewall.ts";

const absent = await whyNoFirewall();

type Targets = Readonly<Record<string, readonly [host: string, port: number]>>;

/** What became of a connection to each target: open, refused, or silent. And whether a name was answered. */
const client = (targets: Targets) => `import json, socket, time
from concurrent.futures import ThreadPoolExecutor
def reach(target):
    # A new bridge may leave the first questions for its IPv6 address unanswered.
    for _ in range(4):
        try:
            socket.create_connection(target, 1.5).close()
            return "open"
        except ConnectionRefusedError:
            return "refused"
        except OSError:
            time.sleep(0.5)
    return "silent"
targets = json.loads('''${JSON.stringify(targets)}''')
with ThreadPoolExecutor(len(targets) + 1) as pool:
    found = dict(zip(targets, pool.map(reach, map(tuple, targets.values()))))
    try:
        found["names"] = socket.gethostbyname("a-name.example")
    except OSError as error:
        found["names"] = str(error)
print("found:", json.dumps(found))`;

const machine = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal, address }) => family === "IPv4" && !internal && !address.startsWith("169.254."));

describe.skipIf(absent)(absent ? `the firewall, skipped because ${absent}` : "the firewall", () => {
  let world: Awaited<ReturnType<typeof openOutsideWorld>>;
  let plain: Record<string, string>;
  let behind: Record<string, string>;
  let behind6: Record<string, string>;

  beforeAll(async () => {
    world = await openOutsideWorld();
    await runFirewallCommands(firewallCommands(world.install, [outside.names]));
    await runFirewallCommands(firewallCommands(world.install6, []));
    const host = { Dns: [outside.names] };
    const look = async (network: string, run: (program: string) => Promise<{ output: string }>) => {
      await using neighbour = await startNeighbour(network);
      const { output } = await run(client(targets(neighbour)));
      return JSON.parse(output.slice(output.indexOf("{")));
    };
    const [ours, ours6] = [networkName(world.install), networkName(world.install6)];
    [plain, behind, behind6] = await Promise.all([
      look(world.plain, (program) => runPlain(program, { NetworkMode: world.plain, ...host })),
      look(ours, (program) => runIsolated(program, { network: ours, host })),
      look(ours6, (program) => runIsolated(program, { network: ours6, host })),
    ]);
  });
  afterAll(async () => {
    await runFirewallCommands(`${removalCommands(world.install)}\n${removalCommands(world.install6)}`);
    await world.close();
  });

  function targets({ address, gateway, address6, gateway6 }: Awaited<ReturnType<typeof startNeighbour>>): Targets {
    return {
      "another tenant": [address, 8888],
      "another tenant, IPv6": [address6, 8888],
      "this machine at its bridge": [gateway, world.port],
      "this machine at its bridge, IPv6": [gateway6, world.port],
      "this machine at its own address": [machine?.address ?? gateway, world.port],
      "the provider's metadata": [outside.metadata, 80],
      ...Object.fromEntries(outside.private.map((host) => [`private ${host}`, [host, 443] as const])),
      "private, IPv6": [outside.private6, 443],
      "mail 25": [outside.public, 25],
      "mail 465": [outside.public, 465],
      "mail 587": [outside.public, 587],
      "mail 25, IPv6": [outside.public6, 25],
      internet: [outside.public, 443],
      "internet, IPv6": [outside.public6, 443],
    };
  }

  const four = [
    ...["another tenant", "this machine at its bridge", "this machine at its own address", "the provider's metadata"],
    ...outside.private.map((host) => `private ${host}`),
    ...["mail 25", "mail 465", "mail 587"],
  ];
  test.each(four)("%s: open on a plain bridge, closed behind the firewall", (name) => {
    expect({ plain: plain[name], behind: behind[name] }).toEqual({ plain: "open", behind: "silent" });
  });

  const six = ["another tenant, IPv6", "this machine at its bridge, IPv6", "private, IPv6", "mail 25, IPv6"];
  test.each(six)("%s: open on a plain bridge, closed behind the firewall", (name) => {
    expect({ plain: plain[name], behind: behind6[name] }).toEqual({ plain: "open", behind: "silent" });
  });

  test("another tenant is closed too where addresses are public and the engine isolates nobody", () => {
    expect(behind6).toMatchObject({ "another tenant": "silent", "another tenant, IPv6": "silent" });
  });

  test("the internet and names stay open", () => {
    expect(behind).toMatchObject({ internet: "open", names: outside.public });
    expect(behind6).toMatchObject({ "internet, IPv6": "open" });
  });

  test("a flood of connections passes a plain bridge and is rate-limited behind the firewall; a later connection passes", async () => {
    const flood = `import socket, time
def connects():
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(("${outside.public}", 443))
    return one
def open_now(one):
    try:
        one.getpeername()
        return True
    except OSError:
        return False
many = [connects() for _ in range(900)]
time.sleep(0.5)
got = sum(map(open_now, many))
time.sleep(3)
socket.create_connection(("${outside.public}", 443), 3).close()
print("found:", got)`;
    const found = ({ output }: { output: string }) => Number(/found: (\d+)/.exec(output)?.[1]);
    const network = networkName(world.install);
    expect(found(await runPlain(flood, { NetworkMode: world.plain }))).toBe(900);
    const behind = found(await runIsolated(flood, { network }));
    expect(behind).toBeGreaterThanOrEqual(300);
    expect(behind).toBeLessThan(800);
  });

  test("applying and removing the firewall are idempotent", async () => {
    const install = "0ff0a11ce5ed";
    onTestFinished(async () => void (await runFirewallCommands(removalCommands(install))));
    const rules = async () =>
      (await shell("iptables -S; ip6tables -S")).split("\n").filter((line) => line.includes("0ff0a11c"));
    await runFirewallCommands(firewallCommands(install, ["192.0.2.53", "2001:db8::53"]));
    const once = await rules();
    expect(once.filter((line) => line.endsWith(`-i ${bridgeName(install)} -j BERTH-IN-0ff0a11c`))).toHaveLength(2);
    await runFirewallCommands(firewallCommands(install, ["192.0.2.53", "2001:db8::53"]));
    expect(await rules()).toEqual(once);
    await runFirewallCommands(removalCommands(install));
    await runFirewallCommands(removalCommands(install));
    expect(await rules()).toEqual([]);
  });

  test("the loop applies the firewall, finds no leak, and logs the leak of a rule that was put before it", async () => {
    await runFirewallCommands(removalCommands(world.install));
    const image = async () => "berth/jupyter:local";
    const parts = { engine: { socketPath }, install: world.install, image, isHost: true, port: world.port };
    const first = startFirewall(parts, strictLog());
    onTestFinished(first.stop);
    await expect.poll(() => missingRules(world.install, [])).toEqual([]);
    expect(await findLeaks(parts)).toEqual([]);
    await first.stop();
    const opened = ["DOCKER-USER", "INPUT"].map((chain) => `${chain} -i ${bridgeName(world.install)} -j ACCEPT`);
    onTestFinished(async () => void (await shell(opened.map((rule) => `iptables -D ${rule}`).join("; "))));
    await shell(opened.map((rule) => `iptables -I ${rule.replace(" ", " 1 ")}`).join("; "));
    const filters = { label: [`berth.install=${world.install}`], status: ["running"] };
    const probes = async () => (await engine.docker.listContainers({ filters })).length;
    const { log, errors: messages } = recordLog();
    const watch = startFirewall(parts, log);
    onTestFinished(watch.stop);
    await expect.poll(() => messages).toHaveLength(1);
    expect(messages[0]).toContain("environments are not isolated: ");
    for (const what of [/reaches another environment at [\d.]+:8888/, /reaches this machine at [\d.]+:\d+/]) {
      expect(messages[0]).toMatch(what);
    }
    expect(messages[0]).toContain("reaches the provider's metadata at 169.254.169.254:80");
    watch.trigger();
    await expect.poll(probes, { interval: 10 }).toBeGreaterThan(0);
    await watch.stop();
    expect(await probes()).toBe(0);
  }, 40_000);

  test("a removed rule is restored at the next pass, logged in one line and counted; a check only names it", async () => {
    const image = async () => "berth/jupyter:local";
    const parts = { engine: { socketPath }, install: world.install, image, isHost: true, port: world.port };
    await runFirewallCommands(removalCommands(world.install));
    // A leak may be logged too: the probe may look while a rule is gone.
    const { log, lines } = recordLog();
    const messages = () => lines.filter(({ event }) => event === "firewall.restored").map(({ msg }) => msg);
    const watch = startFirewall(parts, log);
    onTestFinished(watch.stop);
    await expect.poll(() => findMissingRules(parts)).toEqual([]);
    const rule = `INPUT -i ${bridgeName(world.install)} -j BERTH-IN-${world.install.slice(0, 8)}`;
    await shell(`ip6tables -D ${rule}`);
    expect(await findMissingRules(parts)).toEqual([`ip6tables ${rule}`]);
    watch.trigger();
    await expect.poll(messages).toHaveLength(1);
    await shell(`iptables -D ${rule}; ip6tables -F BERTH-OUT-${world.install.slice(0, 8)}`);
    expect((await findMissingRules(parts)).length).toBeGreaterThan(8);
    watch.trigger();
    await expect.poll(messages).toHaveLength(2);
    expect(messages()[0]).toBe(
      `The firewall around environments had lost 1 rules and has them again (1 since the start of this process): ip6tables ${rule}`,
    );
    expect(messages()[1]).toMatch(/^The firewall around environments had lost \d+ rules .* and \d+ more$/);
    expect(await findMissingRules(parts)).toEqual([]);
  });

  test("a failed probe gives its reason", async () => {
    const image = "berth/says-nothing:test";
    onTestFinished(async () => void (await shell(`docker image rm -f ${image}`)));
    await shell(`docker build -q -t ${image} - <<'END'
FROM berth/jupyter:local
USER root
RUN ln -sf /bin/false /usr/bin/python3
END`);
    const parts = { engine: { socketPath }, install: world.install, isHost: true, port: world.port };
    await expect(findLeaks({ ...parts, image: async () => image })).rejects.toThrow(
      "The firewall could not be probed: the probe's container ended with exit code 1 and printed nothing",
    );
  });

  test("a machine without an image has no runs, and is not probed", async () => {
    const nowhere = { socketPath: "/nowhere.sock" };
    const image = async () => undefined;
    expect(await findLeaks({ engine: nowhere, install: "none", image, isHost: true, port: 1 })).toEqual([]);
  });
});
