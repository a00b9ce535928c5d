import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type Played, playShare } from "./points.ts";
import { writeProof } from "./proof-page.ts";

/** Each waits more than it works, and has a database of its own. */
const shares = 4;

/** The crash scenarios in process, shared by threads; any violation ends them all with its scenario. */
export async function provePoints({ seed, scenarios }: { seed: number; scenarios: number }): Promise<void> {
  const played = await Promise.all(
    Array.from({ length: shares }, (_, share) => playInThread({ seed, scenarios, share, shares })),
  );
  const sum = (count: (one: Played) => number) => played.reduce((all, one) => all + count(one), 0);
  const text = `${sum(({ done }) => done)} scenarios, ${sum(({ ends }) => ends)} ends, 0 violations`;
  const steps = Object.entries(played[0]?.lengths ?? {}).map(([name, length]) => `${name} ${length}`);
  writeProof(
    "points",
    `\`npm run prove -- points --seed ${seed} --scenarios ${scenarios}\`: a modelled process ends at every step to the database, the provider and the driver, before the step and after it; from the second round on its successor ends too. ${text}. Steps by flow: ${steps.join(", ")}.`,
  );
  console.log(text);
}

function playInThread(share: Parameters<typeof playShare>[0]): Promise<Played> {
  const { promise, resolve, reject } = Promise.withResolvers<Played>();
  new Worker(new URL(import.meta.url), { workerData: share }).once("message", resolve).once("error", reject);
  return promise;
}

if (!isMainThread) parentPort?.postMessage(await playShare(workerData));
