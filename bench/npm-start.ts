import { spawn } from "node:child_process";
import { once } from "node:events";
import { until } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import { endRuns } from "../testing/product.ts";

/** `npm start` in a checkout, once it answers 200 on /. Its end ends its environments too. */
export async function npmStart(
  checkout: string,
  env: { readonly DATA_DIR: string; readonly PORT: string; readonly RUNTIMES_DIR?: string },
  timeoutMs = 120_000,
): Promise<AsyncDisposable & { readonly url: string }> {
  const child = spawn("npm", ["start"], {
    cwd: checkout,
    env: { ...environment.shell, ENV_FILE: "", ...env },
    stdio: "ignore",
    // A group of its own, because npm hands no signal on.
    detached: true,
  });
  const ended = once(child, "exit");
  const stop = async () => {
    process.kill(-Number(child.pid), "SIGTERM");
    await ended;
    endRuns(env.DATA_DIR);
  };
  const url = `http://localhost:${env.PORT}`;
  try {
    const page = () => fetch(`http://127.0.0.1:${env.PORT}/`).catch(() => undefined);
    await until("the first page", async () => (await page())?.ok, timeoutMs);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, [Symbol.asyncDispose]: stop };
}
