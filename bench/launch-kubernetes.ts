import { openNamespace } from "../server/src/drivers/testing/open-namespace.ts";
import { addressTowards } from "../server/src/drivers/testing/probe-targets.ts";
import { signUp } from "../testing/customer.ts";
import { openTestCluster } from "../testing/test-cluster.ts";
import { type Figure, inPairs } from "./figure.ts";
import { launchMany } from "./launch-many.ts";
import { launchOnce, prepared, readyOf, report, type Stamps } from "./launch-stages.ts";
import { barePod } from "./peers/kubernetes-floor.ts";
import { buildHubImage, startPodHub } from "./peers/kubernetes-hub.ts";
import { openProduct } from "./processes.ts";

const launches = 20;
const crowd = 20;
const crowds = 3;
const hubPollMs = 250;

/**
 * Launches of pods on the cluster of TEST_KUBECONFIG: paid to 200 through the gateway on its GPUs beside a bare pod of the same
 * image, alternating; then twenty at once on its nodes without GPUs, whose CPU slots overcommit, beside JupyterHub with its
 * KubeSpawner on the same nodes. Its image is built first; the nodes must get it from elsewhere, as they got ours.
 */
export async function measure(): Promise<readonly Figure[]> {
  buildHubImage();
  return [await oneByOne(), await atOnce()];
}

async function oneByOne(): Promise<Figure> {
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
  return { name: "launch of a pod, cold", unit: "ms", samples: readyOf(cold), peer: floor, beside: "a bare pod" };
}

async function atOnce(): Promise<Figure> {
  await using stack = new AsyncDisposableStack();
  const { product, cluster, settings, open, nodeSelector } = await openShop(stack, {});
  const hub = await startPodHub(stack, {
    kubeconfig: settings["KUBERNETES_CONFIG"] ?? "",
    ...{ namespace: open.namespace, address: await addressTowards(cluster), nodeSelector },
  });
  const ours = async () => (await launchMany(product, crowd)).tookMs;
  const found = await inPairs(crowds, ours, () => hub.launchMany(crowd, hubPollMs));
  return { name: "twenty pods at once", unit: "ms", ...found, beside: "JupyterHub with KubeSpawner" };
}

/** A product on the cluster, and a namespace beside its own without policies. */
async function openShop(stack: AsyncDisposableStack, options: { readonly gpus?: boolean }) {
  const { cluster, settings, close } = await openTestCluster(options);
  stack.defer(close);
  const open = await openNamespace(stack, cluster);
  const env = { ...settings, SLOTS: String(crowd), GPUS_PER_USER: "64", LAUNCHES_PER_USER: "100" };
  const product = await openProduct(stack, env);
  await prepared(product);
  const selector = settings["KUBERNETES_NODE_SELECTOR"];
  const nodeSelector = selector ? Object.fromEntries([selector.split("=")]) : {};
  return { product, cluster, settings, open, image: settings["KUBERNETES_IMAGES"]?.split("=")[1] ?? "", nodeSelector };
}
