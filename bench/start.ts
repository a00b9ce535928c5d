import { join } from "node:path";
import { freePort } from "../server/src/testing/free-port.ts";
import { removeFolder, runtimesDir, temporaryFolder } from "../testing/product.ts";
import { type Figure, inPairs } from "./figure.ts";
import { preparedAt } from "./launch-stages.ts";
import { npmStart } from "./npm-start.ts";
import { bareStart } from "./peers/bare-jupyterlab.ts";

const starts = 10;
const root = join(import.meta.dirname, "..");

/** From `npm start` to 200 on /, with everything installed, built and a data folder there, beside JupyterLab started by hand. */
export async function measure(): Promise<readonly Figure[]> {
  const dataDir = temporaryFolder();
  try {
    await prepare(dataDir);
    const found = await inPairs(starts, () => start(dataDir), bareStart);
    return [{ name: "second start", unit: "ms", ...found, beside: "JupyterLab by hand" }];
  } finally {
    removeFolder(dataDir);
  }
}

/** A first start, until JupyterLab is prepared too, which would take the machine from what is measured. */
async function prepare(dataDir: string): Promise<void> {
  const PORT = String(await freePort());
  await using server = await npmStart(root, { PORT, DATA_DIR: dataDir, RUNTIMES_DIR: runtimesDir });
  await preparedAt(server.url);
}

async function start(dataDir: string): Promise<number> {
  const PORT = String(await freePort());
  const began = performance.now();
  await using _ = await npmStart(root, { PORT, DATA_DIR: dataDir, RUNTIMES_DIR: runtimesDir });
  return performance.now() - began;
}
