import { sql } from "kysely";
import { DatabaseError } from "pg";
import { requireNotice, requireTypes } from "../catalogue/accept-catalogue.ts";
import type { Config } from "../config/config.ts";
import type { Db } from "../database/database.ts";
import { requireNotifications } from "../database/hears-notifications.ts";
import { compareSecret } from "../installation/installation.ts";
import { commandLogger } from "../logging/create-logger.ts";
import { checkKeys } from "../payments/provider/check-keys.ts";
import { razorpay } from "../payments/provider/razorpay.ts";
import { withPlainDatabase } from "./backup/with-plain-database.ts";
import { connectionOf, unreachable } from "./with-database.ts";

/**
 * Refuses what a start with these settings and the database of DATABASE_URL would refuse, before anything is migrated (G210).
 * Writes nothing. Throws ConfigError.
 */
export async function checkStart(config: Config): Promise<void> {
  const { payments: keys } = config;
  if (keys.kind === "razorpay")
    await checkKeys(razorpay({ ...keys, baseUrl: keys.url, minimumMinor: {} }), commandLogger);
  const connection = connectionOf(config);
  await withPlainDatabase(connection, async (db) => {
    await sql`select 1`.execute(db).catch((error: Error) => {
      throw unreachable(config, error.message);
    });
    await requireNotifications(db, connection);
    await unlessAbsent(compareOwn(db, config));
    await unlessAbsent(requireTypes(db, config));
    await unlessAbsent(requireNotice(db, config));
  });
}

async function compareOwn(db: Db, { secret }: Config): Promise<void> {
  if (secret !== undefined) await compareSecret(db, Buffer.from(secret));
}

/** A database that is empty or of an older version has no table or column yet, so nothing that could differ. */
async function unlessAbsent(check: Promise<void>): Promise<void> {
  await check.catch((error: unknown) => {
    const isAbsent = error instanceof DatabaseError && /^42(P01|703)$/.test(error.code ?? "");
    if (!isAbsent) throw error;
  });
}
