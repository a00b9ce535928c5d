import { join } from "node:path";
import { openDatabase } from "../server/src/database/database.ts";
import { embeddedConnection } from "../server/src/database/embedded/embedded.ts";
import { silentLogger } from "../server/src/logging/create-logger.ts";
import { removeFolder, startProduct } from "../testing/product.ts";
import type { Attack, Target } from "./hostile/attack.ts";
import { formerTenant } from "./hostile/former-tenant.ts";
import { inside } from "./hostile/inside.ts";
import { keptData } from "./hostile/kept-data.ts";
import { machine } from "./hostile/machine.ts";
import { money } from "./hostile/money.ts";
import { outside } from "./hostile/outside.ts";
import { signedOut } from "./hostile/signed-out.ts";
import { preparedJupyter } from "./labs.ts";
import { writeProof } from "./proof-page.ts";

interface Row {
  readonly attack: string;
  readonly where: string;
  readonly tries: number;
  readonly successes: readonly string[];
}

/** Lifts the limits that only the harness would reach; limits under attack keep their defaults. */
const env = {
  REQUESTS_PER_MINUTE: "3000",
  ANONYMOUS_PER_MINUTE: "3000",
  TRUST_PROXY: "127.0.0.1",
  LAUNCHES_PER_USER: "10",
  GIVE_UP_AFTER: "40",
  NETWORK_MAILS_PER_HOUR: "20",
  NETWORK_MAILS_PER_DAY: "60",
  NEWCOMER_SHARE: "0.5",
};

/**
 * Attacks from a notebook, from another user of the machine, and from the network with many accounts and addresses.
 * They run against started products: one with JupyterLab, and one with fake environments for attacks by the hundred.
 * Each attack repeats a finding of an audit. `docker` runs the notebook in a container; `quick` skips slow attacks.
 */
export async function proveHostile({
  docker,
  only,
  quick,
}: {
  docker: boolean;
  only: readonly number[];
  quick: boolean;
}) {
  const chosen = (attacks: readonly Attack[]) =>
    attacks.filter(
      ({ name, slow }) => (only.length === 0 || only.includes(Number.parseInt(name, 10))) && !(quick && slow),
    );
  const labs = docker ? ["process", "docker"] : ["process"];
  const rows = await Promise.all([
    play("fake", chosen([...outside, ...signedOut, ...money, ...formerTenant, ...keptData])),
    (async () => {
      const found: Row[] = [];
      for (const runtime of labs) found.push(...(await play(runtime, chosen(inside))));
      found.push(...(await play("process", chosen(machine))));
      return found;
    })(),
  ]);
  const all = rows.flat();
  console.table(all.map(({ successes, ...row }) => ({ ...row, successes: successes.length })));
  const succeeded = all.filter(({ successes }) => successes.length > 0);
  for (const { attack, where, successes } of succeeded) console.error(`${attack} (${where}): ${successes.join("; ")}`);
  if (succeeded.length > 0) process.exitCode = 1;
  else if (!quick && only.length === 0) writeProof("hostile", page(all));
}

function page(rows: readonly Row[]): string {
  const tries = rows.reduce((sum, row) => sum + row.tries, 0);
  const lines = rows.map(({ attack, where, tries }) => `| ${attack} | ${where} | ${tries} | 0 |`);
  return `\`npm run prove -- hostile\`: ${rows.length} attacks on started products, ${tries} tries, 0 successes.

| Attack | Environments | Tries | Successes |
|---|---|---|---|
${lines.join("\n")}`;
}

async function play(runtime: string, attacks: readonly Attack[]): Promise<readonly Row[]> {
  if (attacks.length === 0) return [];
  const settings = { ...env, RUNTIME: runtime };
  const product = await startProduct({ env: settings });
  const { dataDir } = product;
  // Reconnects after each kill of the server.
  const { db, close } = await openDatabase(embeddedConnection(join(dataDir, "database")), silentLogger, { keep: true });
  const target: Target = { product, db, env: settings };
  try {
    await preparedJupyter(product.url);
    return await playAll(runtime, attacks, target);
  } finally {
    await close();
    await target.product.stop();
    removeFolder(dataDir);
  }
}

async function playAll(where: string, attacks: readonly Attack[], target: Target): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const attack of attacks) {
    const began = performance.now();
    const { tries, successes } = await attack.run(target);
    const took = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${where}: ${attack.name}: ${tries} tries, ${successes.length} successes, ${took} s`);
    rows.push({ attack: attack.name, where, tries, successes });
  }
  return rows;
}
