import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { type Customer, create, must, orderAndPay, signUp, until } from "../prove/customer.ts";
import { type Product, removeFolder, runtimesDir, startProduct, temporaryFolder } from "../prove/product.ts";
import { quantile } from "./quantiles.ts";

const launches = 20;
type Stamps = ReadonlyMap<string, number>;

/**
 * Paid to JupyterLab answering through the gateway, stage by stage, for new names (cold) and for names whose files are
 * there already (reopened). The floor is the same JupyterLab started by hand, polled the same way, in the same run.
 */
export async function run(): Promise<void> {
  const product = await startProduct();
  try {
    const customer = await signUp(product.url);
    await until("JupyterLab to be prepared", () => isPrepared(product), 300_000);
    const floor: number[] = [];
    const cold: Stamps[] = [];
    const reopened: Stamps[] = [];
    for (let n = 0; n < launches; n++) {
      cold.push(await launchOnce(product, customer, `bench-${n}`));
      reopened.push(await launchOnce(product, customer, `bench-${n}`));
      floor.push(await bareStart(n));
    }
    report("cold", cold);
    report("reopened", reopened);
    const ready = (all: Stamps[]) => all.map((stamps) => stamps.get("ready") ?? Number.NaN);
    console.log(`\nJupyterLab by hand (floor): p50 ${ms(quantile(floor, 0.5))}, p95 ${ms(quantile(floor, 0.95))}`);
    for (const [name, all] of [
      ["cold", cold],
      ["reopened", reopened],
    ] as const)
      console.log(`${name} / floor: p50 ${(quantile(ready(all), 0.5) / quantile(floor, 0.5)).toFixed(2)}x`);
  } finally {
    await product.stop();
    removeFolder(product.dataDir);
  }
}

async function isPrepared({ url }: Product): Promise<boolean> {
  const { types } = await must(url, "GET", "/capacity");
  return types.some(({ type, state }: { type: string; state: string }) => type === "jupyter" && state === "ready");
}

async function launchOnce({ url }: Product, customer: Customer, subdomain: string): Promise<Stamps> {
  const paid = await orderAndPay(url, customer, { subdomain, gpuCount: 1 });
  const { body } = await create(url, customer, paid);
  if (body.status !== "active") throw new Error(`not active: ${JSON.stringify(body)}`);
  const token = customer.idToken;
  const { environment } = await must(url, "GET", `/environments/${body.environment_id}`, { token });
  const stages: readonly { stage: string; at: string }[] = environment.stages;
  const paidAt = Date.parse(stages.find(({ stage }) => stage === "paid")?.at ?? "");
  await must(url, "POST", `/environments/${body.environment_id}/terminate`, { token, body: { confirm: subdomain } });
  await until("its end", async () => {
    const { environment: now } = await must(url, "GET", `/environments/${body.environment_id}`, { token });
    return now.status === "terminated";
  });
  return new Map(stages.map(({ stage, at }) => [stage, Date.parse(at) - paidAt]));
}

/** The same server without a product around it: spawn to 200 on /api. */
async function bareStart(n: number): Promise<number> {
  const folder = temporaryFolder();
  const socketPath = join(folder, `s${n}`);
  const home = join(folder, "home");
  mkdirSync(home);
  const began = performance.now();
  const child = spawn(
    join(runtimesDir, "jupyter", "bin", "python"),
    [
      "-m",
      "jupyterlab",
      `--ServerApp.sock=${socketPath}`,
      "--no-browser",
      `--ServerApp.root_dir=${home}`,
      "--allow-root",
    ],
    { stdio: "ignore", env: { PATH: process.env["PATH"], HOME: home, JUPYTER_TOKEN: "bench" } },
  );
  await until("the bare JupyterLab", async () => existsSync(socketPath) && (await answersOk(socketPath)));
  const took = performance.now() - began;
  child.kill("SIGKILL");
  removeFolder(folder);
  return took;
}

function answersOk(socketPath: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const call = request({ socketPath, path: "/api", headers: { host: "localhost", authorization: "token bench" } });
  call.on("response", (answer) => resolve(answer.resume().statusCode === 200));
  call.on("error", () => resolve(false));
  call.end();
  return promise;
}

function report(name: string, all: readonly Stamps[]): void {
  console.log(`\n${name}, ${all.length} launches, since paid${" ".repeat(8)}p50        p95`);
  for (const stage of all[0]?.keys() ?? []) {
    const at = all.map((stamps) => stamps.get(stage) ?? Number.NaN);
    console.log(`  ${stage.padEnd(34)} ${ms(quantile(at, 0.5)).padStart(10)} ${ms(quantile(at, 0.95)).padStart(10)}`);
  }
}

const ms = (value: number): string => `${Math.round(value)} ms`;
