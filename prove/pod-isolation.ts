import { podsPath } from "../server/src/drivers/kubernetes/cluster/objects.ts";
import type { Cluster } from "../server/src/drivers/kubernetes/cluster/open-cluster.ts";
import { labPort, podNameOf } from "../server/src/drivers/kubernetes/pods/pod-body.ts";
import { deletePolicies } from "../server/src/drivers/testing/delete-policies.ts";
import { forbiddenPods, refusalOfPod } from "../server/src/drivers/testing/forbidden-pods.ts";
import { openNamespace } from "../server/src/drivers/testing/open-namespace.ts";
import { probeFromPod, probeProgram, reachedIn } from "../server/src/drivers/testing/probe-from-pod.ts";
import { addressTowards, outsider, plantTargets, type Target } from "../server/src/drivers/testing/probe-targets.ts";
import { create, must, orderAndPay, signUp, until } from "../testing/customer.ts";
import { type Product, removeFolder, startProduct } from "../testing/product.ts";
import { openTestCluster } from "../testing/test-cluster.ts";
import { preparedJupyter } from "./labs.ts";
import { addressOf, openNotebook } from "./notebook.ts";
import { writeProof } from "./proof-page.ts";

const placement = {
  ...{ install: "", nodeSelector: {}, runtimeClass: undefined },
  ...{ pullSecret: undefined, moveAfter: undefined },
};

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

interface Tenant {
  readonly name: string;
  readonly host: string;
  readonly node: string;
  /** Runs a cell. */
  readonly run: (code: string) => Promise<string>;
}

/**
 * Two customers rent pods on the cluster of TEST_KUBECONFIG, and cells of their notebooks try to reach each other and all that
 * no run may reach. The same addresses are reached once the policies are deleted.
 */
export async function provePodIsolation({ rounds }: { rounds: number }): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { cluster, settings, close } = await openTestCluster();
  stack.defer(close);
  const open = await openNamespace(stack, cluster);
  const clients = `${await addressTowards(cluster)}/32`;
  const env = { ...settings, KUBERNETES_CLIENTS: clients, KUBERNETES_NODE_SELECTOR: await oneNode(cluster, settings) };
  const product = await startProduct({ env });
  stack.defer(async () => {
    await product.stop();
    removeFolder(product.dataDir);
  });
  await preparedJupyter(product.url);
  const [one, two] = await Promise.all([rent(product, cluster, "one"), rent(product, cluster, "two")]);
  const image = settings["KUBERNETES_IMAGES"]?.split("=")[1] ?? "";
  const planted = await plantTargets(stack, cluster, {
    ...placement,
    image,
    node: one.node,
    namespace: open.namespace,
  });
  const probes = [probesOf(one, two, planted), probesOf(two, one, planted), probesOfOutsider(open, [one, two])];
  await until("the public server", async () => (await probes[0]?.reached())?.includes("a public server"));
  const found: string[] = [];
  for (let round = 0; round < rounds; round++)
    for (const { from, targets, reached } of probes) {
      const names = await reached();
      found.push(...closedIn(targets, names).map((name) => `${from} reached ${name}`));
      for (const { name } of targets.filter((target) => target.isOpen && !names.includes(target.name)))
        found.push(`${from} did not reach ${name}`);
    }
  await deletePolicies(cluster);
  for (const { from, targets, reached } of probes)
    await until(`${from} to reach all`, async () => (await reached()).length === targets.length);
  const refused = await refusedPods(cluster, open);
  finish(probes, { rounds, found, refused });
}

/** Selects the first ready node of those that the settings select: the planted addresses are one node's. */
async function oneNode(cluster: Cluster, settings: Readonly<Record<string, string>>): Promise<string> {
  const query = { labelSelector: settings["KUBERNETES_NODE_SELECTOR"] };
  const path = "/api/v1/nodes";
  const { items } = await cluster.withTimeout((signal) => cluster.call<NodeList>({ path, query, signal }));
  const ready = items.find(({ status }) => status.conditions.some((is) => is.type === "Ready" && is.status === "True"));
  return `kubernetes.io/hostname=${ready?.metadata.labels["kubernetes.io/hostname"]}`;
}

async function rent(product: Product, cluster: Cluster, name: string): Promise<Tenant> {
  const customer = await signUp(product.url);
  const paid = await orderAndPay(product.url, customer, { subdomain: `tenant-${name}`, gpuCount: 1 });
  const { body } = await create(product.url, customer, paid);
  const id: string = body.environment_id;
  const token = customer.idToken;
  await until("the environment", async () => {
    const { environment } = await must(product.url, "GET", `/environments/${id}`, { token });
    return environment.status === "active";
  });
  const pod = podNameOf(id);
  const { status, spec } = await cluster.withTimeout((signal) =>
    cluster.call<{ status: { podIP: string }; spec: { nodeName: string } }>({ path: podsPath(cluster, pod), signal }),
  );
  const address = await addressOf(product, token, id);
  const { kernel, close } = await openNotebook(address);
  close();
  const run = async (code: string) => {
    // For each cell anew: JupyterLab closes a socket that answers no pings.
    const notebook = await openNotebook(address, kernel);
    try {
      return await notebook.run(code);
    } finally {
      notebook.close();
    }
  };
  return { name: `tenant ${name}`, host: status.podIP, node: spec.nodeName, run };
}

interface Probes {
  readonly from: string;
  readonly targets: readonly Target[];
  /** Names of the targets that answer now. */
  readonly reached: () => Promise<readonly string[]>;
}

const runOf = ({ host }: Tenant, name: string): Target => ({ name, host, port: labPort });

function probesOf({ name, run }: Tenant, other: Tenant, planted: readonly Target[]): Probes {
  const targets = [runOf(other, "the other tenant"), ...planted];
  return {
    from: name,
    targets,
    reached: async () => reachedIn(await run(probeProgram(targets)), targets),
  };
}

function probesOfOutsider(open: Cluster, tenants: readonly Tenant[]): Probes {
  const targets = tenants.map((tenant) => runOf(tenant, tenant.name));
  return { from: "a pod without policies", targets, reached: () => probeFromPod(open, outsider, targets) };
}

const closedIn = (targets: readonly Target[], names: readonly string[]) =>
  names.filter((name) => !targets.find((target) => target.name === name)?.isOpen);

/** Pods that are admitted without Pod Security, and refused with it. @throws when one is refused for another reason */
async function refusedPods(cluster: Cluster, open: Cluster): Promise<readonly string[]> {
  const names: string[] = [];
  for (const [name, change] of Object.entries(forbiddenPods)) {
    const elsewhere = await refusalOfPod(open, placement, change);
    if (elsewhere) throw new Error(`${name} is refused without Pod Security too: ${elsewhere}`);
    if (/violates PodSecurity/.test((await refusalOfPod(cluster, placement, change)) ?? "")) names.push(name);
  }
  return names;
}

/** The tenants' targets have the same names. */
function rowsOf(probes: readonly Probes[], rounds: number): readonly string[] {
  const [one, , outsiders] = probes;
  const rows = (from: string, { targets = [] }: Partial<Probes> = {}, count = rounds) =>
    targets.map(({ name, isOpen }) => `| ${from} | ${name} | ${count} | ${isOpen ? count : 0} | yes |`);
  return [...rows("each tenant", one, 2 * rounds), ...rows("a pod without policies", outsiders)];
}

interface Results {
  readonly rounds: number;
  readonly found: readonly string[];
  readonly refused: readonly string[];
}

function finish(probes: readonly Probes[], { rounds, found, refused }: Results): void {
  const all = Object.keys(forbiddenPods);
  const admitted = all.filter((name) => !refused.includes(name));
  const tries = rounds * probes.flatMap(({ targets }) => targets.filter(({ isOpen }) => !isOpen)).length;
  for (const line of found) console.error(line);
  for (const name of admitted) console.error(`${name} was admitted`);
  console.log(
    `${tries} tries, ${found.length} successes or closed ways; ${refused.length} of ${all.length} pods refused`,
  );
  if (found.length > 0 || admitted.length > 0) {
    process.exitCode = 1;
    return;
  }
  writeProof(
    "pod-isolation",
    `\`npm run prove -- pod-isolation --rounds ${rounds}\`: cells of two tenants' notebooks on one node of a cluster, and a pod without
policies; ${tries} tries, 0 successes. Without the policies each is reached.

| From | To | Tries | Reached | Reached without policies |
|---|---|---|---|---|
${rowsOf(probes, rounds).join("\n")}

Pod Security refused ${refused.length} of ${all.length} changed pods, and a namespace without it admitted each: ${all.join(", ")}.`,
  );
}
