import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../testing/customer.ts";
import { ask } from "../notebook.ts";
import type { Labs } from "./setup-labs.ts";

const ofEnvironment = 20;
/** Fewer than may be there without having signed in, as a cluster's scheduler or an editor with many windows opens them. */
const atOnce = 20;

/**
 * Opens as many jumps as environments may have, each by an `ssh` of its own that stays, while a page asks all the time. Returns how
 * long the page waited at most.
 */
export async function openManyJumps({ client, hosts, addresses }: Labs) {
  const page = keepAsking(addresses);
  const jumps: Jump[] = [];
  const began = performance.now();
  try {
    const places = hosts.flatMap((host) => Array<string>(ofEnvironment).fill(host));
    for (let first = 0; first < places.length; first += atOnce) {
      const batch = places
        .slice(first, first + atOnce)
        .map((place) => open(client.begin("ssh", words(client, place), { isOpen: true })));
      jumps.push(...batch);
      const greeted = async () => batch.every(({ printed }) => printed().startsWith("SSH-2.0-OpenSSH"));
      await until("the greeting of each SSH server", greeted, 120_000, 100);
    }
    const openMs = performance.now() - began;
    assert.equal(jumps.filter(({ child }) => child.exitCode === null).length, places.length, "open at the same time");
    return { count: jumps.length, openMs, ...(await page.stop()) };
  } finally {
    for (const { child } of jumps) child.kill();
  }
}

/** The jump host as the config names it, and one of the environments that it leads to. */
function words({ config }: Labs["client"], place: string): string[] {
  const jump = /ProxyJump (\S+)/.exec(readFileSync(config, "utf8"))?.[1];
  return ["-F", config, "-W", `${place}:22`, `ssh://${jump}`];
}

interface Jump {
  readonly child: ChildProcess;
  readonly printed: () => string;
}

function open(child: ChildProcess): Jump {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (piece) => (text += piece));
  return { child, printed: () => text };
}

/** JupyterLab's page and one of its calls, of the first environment, one after the other. */
function keepAsking([address]: Labs["addresses"]) {
  const stopping = new AbortController();
  const seen = { longestMs: 0, answers: 0 };
  const asking = (async () => {
    while (address && !stopping.signal.aborted)
      for (const path of ["/lab", "/api/kernels"]) {
        const began = performance.now();
        assert.equal((await ask(address, path)).status, 200, `${path} meanwhile`);
        seen.longestMs = Math.max(seen.longestMs, performance.now() - began);
        seen.answers += 1;
        await sleep(100);
      }
  })();
  // Reported by `stop`.
  asking.catch(() => {});
  return {
    async stop() {
      stopping.abort();
      await asking;
      return seen;
    },
  };
}
