import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { brokenInvariants } from "../server/src/payments/ledger/invariants.ts";
import { until } from "../testing/customer.ts";
import { rentDeployed } from "./machine/rent-deployed.ts";
import { outcomesOfPayments } from "./money/outcomes-of-payments.ts";
import { type NodeCommands, type NodeOptions, nodeCommandsOf } from "./nodes/node-commands.ts";
import { writeProof } from "./proof-page.ts";
import { buyInLoop } from "./replicas/buy-in-loop.ts";
import { type ClusterInstallation, installInCluster, type Role, roles } from "./replicas/cluster-installation.ts";
import { inEnvironments } from "./replicas/kubectl.ts";
import { type NotebookFigures, type OpenNotebooks, openNotebooks } from "./replicas/open-notebooks.ts";

const customers = 10;
const buyers = 1;
const betweenMs = 5_000;
/** Longest time without a connection, of a notebook whose gateway died. */
const mostGapMs = 1_000;
/** How long a node is away after the cluster has missed it. */
const awayMs = 30_000;

/** The node is lost in the end, if commands are given. */
interface Options extends NodeOptions {
  readonly minutes: number;
}

/**
 * The Helm chart with two replicas of each role in the cluster of TEST_KUBECONFIG: the first rental in a browser, then customers with
 * open notebooks and others who order, while each replica is killed in turn (SIGKILL) and all are replaced by `helm upgrade`.
 * No order and no kernel may be lost, no connection by the death of an api or a worker; a gateway's notebooks connect again
 * within a second. At last a node is ended with what runs on it, and comes back. The nodes must have the images of the
 * release, of prove/machine's postgres and of JupyterLab.
 */
export async function proveReplicas(options: Options): Promise<void> {
  const lost = nodeCommandsOf(options);
  const installation = await installInCluster(lost?.node);
  try {
    const { url } = installation;
    const isRented = await rentDeployed({ url, address: "127.0.0.1", host: "localhost", runtime: "kubernetes" });
    const figures = await underFire(installation, options.minutes, lost);
    const text = await report(installation, { ...figures, isRented, ...options });
    console.log(text);
    writeProof("replicas", text);
  } finally {
    await installation.remove();
  }
}

async function underFire(installation: ClusterInstallation, minutes: number, lost: NodeCommands | undefined) {
  const endsAt = Date.now() + minutes * 60_000;
  let during = "quiet";
  const notebooks = await openNotebooks(installation, customers, () => during);
  const shop = buyInLoop(installation.url, buyers);
  const kills: Record<Role, number> = { worker: 0, api: 0, gateway: 0 };
  let upgrades = 0;
  do {
    for (const role of roles)
      for (const pod of await podsOf(installation, role)) {
        during = role;
        await killProcess(installation, role, pod);
        kills[role]++;
        await sleep(betweenMs);
        await allReady(installation);
        console.log(`killed ${pod}: ${sentenceOf(notebooks.figures)}`);
      }
    during = "upgrade";
    await installation.upgrade();
    // The replicas of before end by and by.
    await sleep(2 * betweenMs);
    upgrades++;
    console.log(`upgraded: ${sentenceOf(notebooks.figures)}`);
  } while (Date.now() < endsAt);
  let onLostNode = 0;
  if (lost) {
    during = "node";
    onLostNode = await loseNode(installation, notebooks, lost);
    console.log(`lost ${lost.node}: ${sentenceOf(notebooks.figures)}`);
  }
  await Promise.all([notebooks.stop(), shop.stop()]);
  return { notebooks: notebooks.figures, orders: shop.figures, kills, upgrades, onLostNode };
}

/** Ends a node, whose kernels end with it, and brings it back. Returns how many environments it had; all answer again. */
async function loseNode(
  installation: ClusterInstallation,
  notebooks: OpenNotebooks,
  { node, stop, start }: NodeCommands,
): Promise<number> {
  const { kubectl } = installation.cluster;
  const selected = [
    "--selector=berth.part=run",
    ...inEnvironments(installation.cluster),
    `--field-selector=spec.nodeName=${node}`,
  ];
  const found = await kubectl(["get", "pods", ...selected, `--output=${environmentIds}`]);
  const ids = found.split("\n").filter((id) => id !== "");
  await notebooks.leave(ids);
  stop();
  try {
    await kubectl(["wait", `node/${node}`, "--for=condition=Ready=Unknown", "--timeout=120s"]);
    await sleep(awayMs);
  } finally {
    start();
  }
  await kubectl(["wait", `node/${node}`, "--for=condition=Ready", "--timeout=120s"]);
  await allReady(installation);
  await notebooks.untilBack(ids);
  return ids.length;
}

async function podsOf({ cluster }: ClusterInstallation, role: Role): Promise<string[]> {
  const selector = `app.kubernetes.io/component=${role}`;
  const names = await cluster.kubectl(["get", "pods", "--selector", selector, "--output=name"]);
  return names.trim().split("\n");
}

/** The server itself, below the init process of its container. */
async function killProcess({ cluster }: ClusterInstallation, role: Role, pod: string): Promise<void> {
  const kill = "kill -9 $(cat /proc/1/task/1/children)";
  await cluster.kubectl(["exec", pod, `--container=${role}`, "--", "sh", "-c", kill]);
}

async function allReady({ cluster }: ClusterInstallation): Promise<void> {
  for (const role of roles) await cluster.kubectl(["rollout", "status", `deployment/berth-${role}`, "--timeout=180s"]);
}

const environmentIds = 'jsonpath={range .items[*]}{.metadata.annotations.berth\\.environment}{"\\n"}{end}';

interface Outcome extends Awaited<ReturnType<typeof underFire>>, Options {
  readonly isRented: boolean;
}

async function report(installation: ClusterInstallation, outcome: Outcome): Promise<string> {
  const { db } = installation;
  const { notebooks, orders, kills, upgrades, isRented, minutes, node, onLostNode } = outcome;
  await until("every order to end", async () => (await openWork(installation)) === 0, 240_000);
  const totals = await outcomesOfPayments(db);
  assert.ok(totals);
  const broken = await brokenInvariants(db);
  const doubled = await doubledEnvironments(installation);
  const lostNode =
    onLostNode > 0
      ? `, and the death of the node ${node} with ${onLostNode} environments, which ran again when it was back`
      : "";
  const text = `\`npm run prove -- replicas --minutes ${minutes}\`: the chart with 2 api, 2 gateway and 2 worker; the first rental in a browser ${isRented ? "passed" : "failed"}. Then ${kills.api} kills of an api, ${kills.gateway} of a gateway and ${kills.worker} of a worker (SIGKILL), and ${upgrades} rolling upgrades${lostNode}, under ${customers} customers with open notebooks and ${buyers} who order.

- ${sentenceOf(notebooks)}
- ${totals.paid} orders paid: ${totals.delivered} delivered, ${totals.refunded} refunded in full, ${totals.duplicate} duplicate payments refunded; ${totals.both} both, ${totals.neither} neither, ${broken.length} broken invariants of money. ${orders.interrupted} times a customer had no answer, or a refusal, and went on.
- Environments twice: ${doubled.length}.
`;
  const dropped = notebooks.drops.filter(({ during }) => during === "api" || during === "worker");
  const gaps = notebooks.drops.flatMap(({ during, gapMs }) => (during === "node" ? [] : [gapMs]));
  const longest = Math.max(0, ...gaps);
  assert.deepEqual([totals.both, totals.neither, broken, doubled], [0, 0, [], []], text);
  assert.deepEqual([notebooks.lost, dropped, isRented], [[], [], true], text);
  assert.ok(longest <= mostGapMs, text);
  return text;
}

function sentenceOf({ cells, drops, lost }: NotebookFigures): string {
  const by = (...causes: readonly string[]) => drops.filter(({ during }) => causes.includes(during));
  const others = drops.filter((drop) => drop.during !== "node");
  const gaps = others.map(({ gapMs }) => gapMs).toSorted((one, other) => one - other);
  const longest = gaps.at(-1) ?? 0;
  return `${cells} cells counted in ${customers} kernels, ${lost.length} kernels lost. Connections that ended: ${by("worker", "api", "quiet").length} by the death of an api or a worker, ${by("gateway").length} by that of a gateway, ${by("upgrade").length} in upgrades, ${by("node").length} with the gateway of a dead node. Time until the next one, dead nodes apart: median ${gaps[Math.floor(gaps.length / 2)] ?? 0} ms, longest ${longest} ms.`;
}

/** Orders and environments that are on their way. */
async function openWork({ db }: ClusterInstallation): Promise<number> {
  const { rows } = await sql<{ open: number }>`select
    (select count(*) from orders where status in ('paid', 'refunding')) +
    (select count(*) from refunds where status not in ('processed', 'waived')) +
    (select count(*) from environments where status = 'pending'
      or desired = 'terminated' and status <> 'terminated') as open`.execute(db);
  return rows[0]?.open ?? 0;
}

/** Orders with two environments, and runs in the cluster that are not the one of an environment that runs. */
async function doubledEnvironments({ db, cluster }: ClusterInstallation): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select order_id as id from environments where order_id is not null group by order_id having count(*) > 1`.execute(
    db,
  );
  const active = await db.selectFrom("environments").select("id").where("status", "=", "active").execute();
  const selected = ["--selector=berth.part=run", ...inEnvironments(cluster)];
  const found = await cluster.kubectl(["get", "pods", ...selected, `--output=${environmentIds}`]);
  const runs = found.split("\n").filter((id) => id !== "");
  const unknown = runs.filter((id, index) => !active.some((each) => each.id === id) || runs.indexOf(id) !== index);
  return [...rows.map(({ id }) => id), ...unknown];
}
