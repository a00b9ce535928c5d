import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { Environment } from "../environment.ts";

/** Records the only node that can mount the files of a run, where it is one: the next start is leased there (G181). */
export async function recordHomeNode(
  { db }: { readonly db: Db },
  driver: Driver,
  { home, host_id: hostId }: Environment,
): Promise<void> {
  if (!driver.homeNode) return;
  const node = (await driver.homeNode(home)) ?? null;
  await sql`
    update homes set node = ${node} where home = ${home} and host_id = ${hostId} and node is distinct from ${node}`.execute(
    db,
  );
}
