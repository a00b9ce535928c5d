import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { readRuntime } from "../server/src/drivers/process/prepare-runtime.ts";
import { signUp, until } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import { removeFolder, runtimesDir, startProduct, temporaryFolder } from "../testing/product.ts";
import { launchOnce, ms, prepared, readyOf, report, type Stamps } from "./launch-stages.ts";
import { quantile } from "./quantiles.ts";

const launches = 20;

/**
 * From paid to ready through the gateway, stage by stage, for new names (cold) and for names with kept files (reopened).
 * The floor is the same JupyterLab started by hand, polled the same way, in the same run. RUNTIME=docker measures
 * containers instead, warm ones too.
 */
export async function run(): Promise<void> {
  if (environment.runtime.RUNTIME === "docker")
    return await (await import("./launch-docker.ts")).benchContainers(launches);
  const product = await startProduct();
  try {
    const customer = await signUp(product.url);
    await prepared(product);
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
    console.log(`\nJupyterLab by hand (floor): p50 ${ms(quantile(floor, 0.5))}, p95 ${ms(quantile(floor, 0.95))}`);
    for (const [name, all] of [
      ["cold", cold],
      ["reopened", reopened],
    ] as const)
      console.log(`${name} / floor: p50 ${(quantile(readyOf(all), 0.5) / quantile(floor, 0.5)).toFixed(2)}x`);
  } finally {
    await product.stop();
    removeFolder(product.dataDir);
  }
}

/** JupyterLab alone, from spawn to 200 on /api. */
async function bareStart(n: number): Promise<number> {
  const folder = temporaryFolder();
  const socketPath = join(folder, `s${n}`);
  const home = join(folder, "home");
  mkdirSync(home);
  const runtime = await readRuntime(runtimesDir, "jupyter");
  if (!runtime) throw new Error("JupyterLab is not prepared");
  const began = performance.now();
  const child = spawn(
    join(runtime.folder, "bin", "python"),
    [
      "-m",
      "jupyterlab",
      `--ServerApp.sock=${socketPath}`,
      "--no-browser",
      `--ServerApp.root_dir=${home}`,
      "--allow-root",
    ],
    { stdio: "ignore", env: { ...environment.shell, HOME: home, JUPYTER_TOKEN: "bench" } },
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
