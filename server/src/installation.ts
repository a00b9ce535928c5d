import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Db } from "./database/database.ts";
import { newId } from "./database/ids.ts";

/** The secret every part derives its own key from: given by the operator, or made once and kept in the data folder. */
export function installationSecret(dataDir: string, given: string | undefined): Buffer {
  if (given) return Buffer.from(given);
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, "secret");
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString("hex"), { mode: 0o600, flag: "wx" });
  return Buffer.from(readFileSync(file, "utf8").trim());
}

/** Who this installation is to a driver, and when it first started (G34). */
export async function installationOf(db: Db): Promise<{ id: string; startedAt: Date }> {
  await db
    .insertInto("installation")
    .values({ id: newId() })
    .onConflict((conflict) => conflict.column("one").doNothing())
    .execute();
  const row = await db.selectFrom("installation").selectAll().executeTakeFirstOrThrow();
  return { id: row.id, startedAt: row.started_at };
}
