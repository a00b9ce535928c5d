import { type Customer, create, orderAndPay, profileOf, signUp } from "../testing/customer.ts";
import type { Product } from "../testing/product.ts";
import type { Figure } from "./figure.ts";
import { type Hub, startHub } from "./peers/jupyterhub.ts";
import { drive, openProduct } from "./processes.ts";

const repeats = 6;
const sockets = 20;
const forMs = 2000;

interface Read {
  readonly name: string;
  readonly port: number;
  /** One path per token, or one for all. */
  readonly paths: readonly string[];
  readonly tokens: readonly string[];
}

/**
 * Authenticated reads over 20 connections, one user each, alternating with reads of the own account from JupyterHub behind its
 * proxy.
 */
export async function measure(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const product = await openProduct(stack, { RUNTIME: "fake", FAKE_DRIVER: `gpus=${sockets}` });
  const peer = await readOfHub(await startHub(stack));
  const reads = await readsOfOurs(product);
  // Warms up the JIT compiler.
  for (const read of [peer, ...reads]) await perSecond(read);
  const rates = reads.map(() => [] as number[]);
  const ofPeer: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    ofPeer.push(await perSecond(peer));
    for (const [at, read] of reads.entries()) rates[at]?.push(await perSecond(read));
  }
  return reads.map(({ name }, at) => ({
    ...{ name, unit: "1/s", samples: rates[at] ?? [], peer: ofPeer, beside: peer.name },
  }));
}

async function perSecond({ port, paths, tokens }: Read): Promise<number> {
  const clients = tokens.map(
    (token) => `Host: localhost:${port}\r\nAuthorization: ${token}\r\nAccept: application/json\r\n`,
  );
  return (await drive({ kind: "requests", port, path: paths, sockets, forMs, clients })).perSecond;
}

async function readsOfOurs({ url, port }: Product): Promise<readonly Read[]> {
  const renters: Renter[] = [];
  for (let n = 0; n < sockets; n++) renters.push(await rent(url, `reads-${n}`));
  const tokens = renters.map(({ customer }) => `Bearer ${customer.idToken}`);
  const reads: readonly (readonly [string, (renter: Renter) => string])[] = [
    ["reads of the own account", ({ customer }) => `/profile/${customer.userId}`],
    ["reads of billing", ({ customer }) => `/billing/${customer.userId}`],
    ["reads of an environment", ({ environmentId }) => `/environments/${environmentId}`],
    ["reads of capacity", () => "/capacity"],
  ];
  return reads.map(([name, pathOf]) => ({ name, port, tokens, paths: renters.map(pathOf) }));
}

interface Renter {
  readonly customer: Customer;
  readonly environmentId: string;
}

/** Signs up a customer with one running environment. */
async function rent(url: string, subdomain: string): Promise<Renter> {
  const customer = await signUp(url);
  const paid = await orderAndPay(url, customer, { subdomain, gpuCount: 1 });
  const { status } = await create(url, customer, paid);
  if (status !== 200) throw new Error(`the rental answered ${status}`);
  const { user_data } = await profileOf(url, customer);
  const [environmentId = ""] = Object.keys(user_data.containers);
  return { customer, environmentId };
}

async function readOfHub({ port, ask }: Hub): Promise<Read> {
  const tokens: string[] = [];
  for (let n = 0; n < sockets; n++) {
    await ask(`/hub/api/users/user-${n}`, "POST");
    const made = await ask(`/hub/api/users/user-${n}/tokens`, "POST");
    const { token } = (await made.json()) as { token: string };
    const own = await ask("/hub/api/user", "GET", token);
    if (own.status !== 200) throw new Error(`the hub answered ${own.status}`);
    tokens.push(`token ${token}`);
  }
  return { name: "JupyterHub, own account", port, paths: ["/hub/api/user"], tokens };
}
