import { openNamespace } from "../server/src/drivers/testing/open-namespace.ts";
import { addressTowards } from "../server/src/drivers/testing/probe-targets.ts";
import { signUp } from "../testing/customer.ts";
import { removeFolder, startProduct } from "../testing/product.ts";
import { openTestCluster } from "../testing/test-cluster.ts";
import { barePod } from "./kubernetes-floor.ts";
import { buildHubImage, hubImage, startHub } from "./kubernetes-hub.ts";
import { launchMany } from "./launch-many.ts";
import { judge, launchOnce, ms, prepared, readyOf, report, type Stamps } from "./launch-stages.ts";
import { quantile } from "./quantiles.ts";

const launches = 20;
const crowd = 20;
const goals = { toFloor: 1.5, toHub: 0.75 };

/**
 * Launches of pods on the cluster of TEST_KUBECONFIG: paid to 200 through the gateway on its GPUs beside a bare pod of the same
 * image, alternating; then twenty at once on its nodes without GPUs, whose CPU slots overcommit, beside JupyterHub with its
 * KubeSpawner on the same nodes. Its image is built first; the nodes must get it from elsewhere, as they got ours.
 */
export async function run(): Promise<void> {
  buildHubImage();
  await oneByOne();
  await atOnce();
}

async function oneByOne(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { product, open, image, nodeSelector } = await openShop(stack, { gpus: true });
  const customer = await signUp(product.url);
  const floor: number[] = [];
  const cold: Stamps[] = [];
  for (let n = 0; n < launches; n++) {
    floor.push(await barePod(open, image, nodeSelector));
    cold.push(await launchOnce(product, customer, `bench-${n}`));
  }
  report("pods, cold", cold);
  console.log(`\na bare pod (floor): p50 ${ms(quantile(floor, 0.5))}, p95 ${ms(quantile(floor, 0.95))}`);
  for (const share of [0.5, 0.95])
    judge(`pod / floor, p${share * 100}`, quantile(readyOf(cold), share) / quantile(floor, share), goals.toFloor, "x");
}

async function atOnce(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { product, cluster, settings, open, nodeSelector } = await openShop(stack, {});
  const ours = await launchMany(product, crowd);
  report(`${crowd} at once, cold`, ours.stamps);
  const hub = await startHub(stack, {
    kubeconfig: settings["KUBERNETES_CONFIG"] ?? "",
    ...{ namespace: open.namespace, address: await addressTowards(cluster), nodeSelector },
  });
  const users = Array.from({ length: crowd }, (_, n) => `user-${n}`);
  const began = performance.now();
  await Promise.all(users.map(hub.launch));
  const hubMs = performance.now() - began;
  await Promise.all(users.map(hub.end));
  console.log(`\n${crowd} at once: ${ms(ours.tookMs)}; JupyterHub with ${hubImage}: ${ms(hubMs)}`);
  judge("at once / JupyterHub", ours.tookMs / hubMs, goals.toHub, "x");
}

/** A product on the cluster, and a namespace beside its own without policies. */
async function openShop(stack: AsyncDisposableStack, options: { readonly gpus?: boolean }) {
  const { cluster, settings, close } = await openTestCluster(options);
  stack.defer(close);
  const open = await openNamespace(stack, cluster);
  const env = { ...settings, SLOTS: String(crowd), GPUS_PER_USER: "64", LAUNCHES_PER_USER: "100" };
  const product = await startProduct({ env });
  stack.defer(async () => {
    await product.stop();
    removeFolder(product.dataDir);
  });
  await prepared(product);
  const selector = settings["KUBERNETES_NODE_SELECTOR"];
  const nodeSelector = selector ? Object.fromEntries([selector.split("=")]) : {};
  return { product, cluster, settings, open, image: settings["KUBERNETES_IMAGES"]?.split("=")[1] ?? "", nodeSelector };
}
