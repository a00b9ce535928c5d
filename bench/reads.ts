import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Customer, create, orderAndPay, profileOf, signUp, until } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import { freePort } from "../testing/free-port.ts";
import { type Product, removeFolder, startProduct } from "../testing/product.ts";
import { installHub } from "./jupyterhub.ts";
import { drive, end, installProxy, ratio } from "./processes.ts";
import { median } from "./quantiles.ts";

const repeats = 5;
const sockets = 20;
const forMs = 3000;
const peerName = "JupyterHub, own account";

interface Read {
  readonly name: string;
  readonly port: number;
  /** One path per token, or one for all. */
  readonly paths: readonly string[];
  readonly tokens: readonly string[];
}

/**
 * Authenticated reads of the own account over 20 connections, one user each: JupyterHub behind its proxy and ours,
 * alternating, medians. Ours also serves billing, an environment's page and capacity.
 */
export async function run(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "berth-bench-"));
  const product = await startProduct({ env: { RUNTIME: "fake", FAKE_DRIVER: `gpus=${sockets}` } });
  let hub: ChildProcess | undefined;
  try {
    const port = await freePort();
    hub = await startHub(directory, port);
    const reads = [await readOfHub(port), ...(await readsOfOurs(product))];
    await measure(reads);
  } finally {
    if (hub) await end(hub);
    await product.stop();
    removeFolder(product.dataDir);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function readsOfOurs({ url, port }: Product): Promise<readonly Read[]> {
  const renters: Renter[] = [];
  for (let n = 0; n < sockets; n++) renters.push(await rent(url, `reads-${n}`));
  const tokens = renters.map(({ customer }) => `Bearer ${customer.idToken}`);
  const reads: readonly (readonly [string, (renter: Renter) => string])[] = [
    ["ours, own account", ({ customer }) => `/profile/${customer.userId}`],
    ["ours, billing", ({ customer }) => `/billing/${customer.userId}`],
    ["ours, environment", ({ environmentId }) => `/environments/${environmentId}`],
    ["ours, capacity", () => "/capacity"],
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

const adminToken = "0123456789abcdef0123456789abcdef";

async function startHub(directory: string, port: number): Promise<ChildProcess> {
  const program = installHub();
  const [hubPort, proxyApi] = [await freePort(), await freePort()];
  const settings = join(directory, "jupyterhub_config.py");
  writeFileSync(
    settings,
    `
c.JupyterHub.bind_url = "http://127.0.0.1:${port}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:${hubPort}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:${proxyApi}"
c.ConfigurableHTTPProxy.command = ["${process.execPath}", "${installProxy()}", "--log-level", "error"]
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.log_level = "ERROR"
c.JupyterHub.services = [{"name": "bench", "api_token": "${adminToken}"}]
c.JupyterHub.load_roles = [{"name": "bench", "services": ["bench"], "scopes": ["admin:users", "tokens"]}]
`,
  );
  const { PATH, HOME } = environment.shell;
  return spawn(program, ["--config", settings], {
    cwd: directory,
    env: { ...(HOME && { HOME }), PATH: `${dirname(program)}:${PATH}` },
    stdio: ["ignore", "inherit", "inherit"],
  });
}

async function readOfHub(port: number): Promise<Read> {
  const api = `http://127.0.0.1:${port}/hub/api`;
  const ask = (path: string, method: string, token = adminToken) =>
    fetch(`${api}${path}`, { method, headers: { authorization: `token ${token}` } }).catch(() => undefined);
  const tokens: string[] = [];
  for (let n = 0; n < sockets; n++) {
    await until("the hub", async () => (await ask(`/users/user-${n}`, "POST"))?.status === 201);
    const made = await ask(`/users/user-${n}/tokens`, "POST");
    const { token } = made ? ((await made.json()) as { token: string }) : { token: "" };
    const own = await ask("/user", "GET", token);
    if (own?.status !== 200) throw new Error(`the hub answered ${own?.status}`);
    tokens.push(`token ${token}`);
  }
  return { name: peerName, port, paths: ["/hub/api/user"], tokens };
}

async function measure(reads: readonly Read[]): Promise<void> {
  const loadOf = ({ port, paths, tokens }: Read) => ({
    ...{ kind: "requests" as const, port, path: paths, sockets, forMs },
    clients: tokens.map(
      (token) => `Host: localhost:${port}\r\nAuthorization: ${token}\r\nAccept: application/json\r\n`,
    ),
  });
  const results = new Map(reads.map(({ name }) => [name, { perSecond: [] as number[], p99Ms: [] as number[] }]));
  // Warms up the JIT compiler.
  for (const read of reads) await drive(loadOf(read));
  for (let repeat = 0; repeat < repeats; repeat++)
    for (const read of reads) {
      const { perSecond, p99Ms } = await drive(loadOf(read));
      results.get(read.name)?.perSecond.push(perSecond);
      results.get(read.name)?.p99Ms.push(p99Ms);
    }
  const ofPeer = median(results.get(peerName)?.perSecond ?? []);
  console.log(`\n${sockets} connections: median of ${repeats}`);
  console.table(
    [...results].map(([name, { perSecond, p99Ms }]) => ({
      read: name,
      "per second": Math.round(median(perSecond)),
      "x JupyterHub": ratio(median(perSecond), ofPeer),
      "p99 ms": median(p99Ms).toFixed(1),
    })),
  );
  console.log(`load of the last minute: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores`);
}
