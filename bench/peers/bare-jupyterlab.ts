import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { readRuntime } from "../../server/src/drivers/process/prepare-runtime.ts";
import { until } from "../../testing/customer.ts";
import { environment } from "../../testing/environment.ts";
import { removeFolder, runtimesDir, temporaryFolder } from "../../testing/product.ts";

/** The floor: JupyterLab started by hand, from spawn to 200 on /api, in milliseconds. */
export async function bareStart(n: number): Promise<number> {
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
