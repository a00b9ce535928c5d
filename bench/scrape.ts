import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../testing/customer.ts";
import { removeFolder, startProduct } from "../testing/product.ts";
import { counted, fleet, rentFleet } from "../testing/rent-fleet.ts";
import { openProductDatabase } from "../testing/seed.ts";
import { cpuMs, ratio } from "./processes.ts";
import { median, quantile } from "./quantiles.ts";

const scrapes = 20;
/** More than the five seconds for which what the database knows is kept. */
const pauseMs = 5_500;
/** As Prometheus asks by default. */
const usualSeconds = 15;

/** What `/metrics` costs with 1,000 environments: each scrape that reads the database, and each that does not, beside `/healthz`. */
export async function run(): Promise<void> {
  const env = { RUNTIME: "fake", FAKE_DRIVER: `gpus=${fleet},startMs=50`, METRICS_PORT: "0" };
  const product = await startProduct({ env });
  const { db, close } = await openProductDatabase(product);
  try {
    await rentFleet(db);
    await until("all to be active", async () => (await counted(db, "status = 'active'")) === fleet, 600_000);
    const origin = /Health checks are at (\S+)\/healthz/.exec(product.output())?.[1] ?? "";
    await until("the server to be quiet", () => isQuiet(product.pid), 120_000);
    const reading = await measure(product.pid, `${origin}/metrics`, pauseMs);
    const kept = await measure(product.pid, `${origin}/metrics`, 0);
    const health = await measure(product.pid, `${origin}/healthz`, 0);
    const text = await (await fetch(`${origin}/metrics`)).text();
    const series = text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
    console.log(`${fleet} environments, ${series} series, ${(text.length / 1024).toFixed(0)} KiB a scrape`);
    console.table({
      "scrape that reads the database": row(reading, health),
      "scrape within five seconds of one": row(kept, health),
      "/healthz": row(health, health),
    });
    const share = (reading.cpuMs / (usualSeconds * 1000)) * 100;
    console.log(`one scrape every ${usualSeconds} s: ${share.toFixed(2)} % of a core of the server`);
    console.log(`load of the last minute: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores`);
  } finally {
    await close();
    await product.stop();
    removeFolder(product.dataDir);
  }
}

interface Cost {
  readonly took: readonly number[];
  /** Of the server, for each, with what else it did meanwhile. */
  readonly cpuMs: number;
}

async function measure(pid: number, url: string, pauseMs: number): Promise<Cost> {
  const took: number[] = [];
  let spentMs = 0;
  for (let n = 0; n < scrapes; n++) {
    await sleep(pauseMs);
    const before = cpuMs(pid);
    const began = performance.now();
    await (await fetch(url)).arrayBuffer();
    took.push(performance.now() - began);
    spentMs += cpuMs(pid) - before;
  }
  return { took, cpuMs: spentMs / scrapes };
}

/** Less than a tenth of a core for a second. */
async function isQuiet(pid: number): Promise<boolean> {
  const before = cpuMs(pid);
  await sleep(1000);
  return cpuMs(pid) - before < 100;
}

function row({ took, cpuMs }: Cost, health: Cost) {
  return {
    "median ms": median(took).toFixed(1),
    "worst ms": quantile(took, 1).toFixed(1),
    "x /healthz": ratio(median(took), median(health.took)),
    "CPU ms of the server": cpuMs.toFixed(1),
  };
}
