import { type CatalogueProblem, defaultCatalogue, noticeProblems, type ShownCatalogue } from "@berth/contract";
import { sql } from "kysely";
import { type Author, recordAct, requireReason } from "../audit/record-act.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { catalogueErrorOf } from "../config/read-catalogue-file.ts";
import type { Db, Sql, Tx } from "../database/database.ts";
import { operatorCommand } from "../text/operator-command.ts";
import { comingChanges } from "./coming-changes.ts";
import { removedTypes } from "./removed-types.ts";
import { queueChanges, withdrawChanges } from "./withdraw-changes.ts";

/**
 * Compares the catalogue of a start with the one of the start before, by the database's clock (G150). One that raises prices
 * or changes terms without 30 days' notice is refused with line and field: throws ConfigError, and nothing is changed. Else
 * it is what customers are shown from now on, what begins later is queued for announcement, and what was announced and is
 * gone is taken back (G166). The first catalogue of the operator's is compared with the built-in one, which was sold before.
 */
export async function acceptCatalogue(db: Db, config: Pick<Config, "catalogue" | "catalogueFile">): Promise<void> {
  const { catalogue } = config;
  await requireTypes(db, config);
  await db.transaction().execute(async (tx) => {
    await sql`lock table accepted_catalogue in exclusive mode`.execute(tx);
    await requireNotice(tx, config);
    const coming = comingChanges(catalogue, await nowOf(tx));
    await withdrawChanges(tx, coming);
    await queueChanges(tx, coming);
    await writeAccepted(tx, catalogue);
  });
}

/** Throws ConfigError where an environment could not be started again (removed-types.ts). */
export async function requireTypes(
  db: Sql,
  { catalogue, catalogueFile }: Pick<Config, "catalogue" | "catalogueFile">,
): Promise<void> {
  const problems = await removedTypes(db, catalogue);
  if (problems.length > 0) throw new ConfigError(`CATALOGUE: ${catalogueErrorOf(catalogueFile, problems).message}`);
}

/** Throws ConfigError with each raise or change that has no notice, and the command that lets it pass. */
export async function requireNotice(
  db: Sql,
  { catalogue, catalogueFile }: Pick<Config, "catalogue" | "catalogueFile">,
): Promise<void> {
  const problems = await checkNotice(db, catalogue);
  if (problems.length === 0) return;
  const { message } = catalogueErrorOf(catalogueFile, problems);
  const accept = operatorCommand(`catalogue accept ${catalogueFile ?? "FILE"} --reason TEXT`);
  throw new ConfigError(`CATALOGUE: ${message}\n    To mend a mistake without notice: ${accept}`);
}

/**
 * Lets the next start with this catalogue pass without 30 days' notice, for the author's reason: to mend a mistake. Throws
 * without a reason.
 */
export async function acceptWithoutNotice(
  db: Db,
  catalogue: ShownCatalogue,
  file: string,
  author: Author,
): Promise<void> {
  requireReason(author);
  await db.transaction().execute(async (tx) => {
    const problems = await checkNotice(tx, catalogue);
    await writeAccepted(tx, catalogue);
    await recordAct(tx, author, "catalogue.accept", file, { raises: problems.length });
  });
}

/** The problems that a start with this catalogue would find. None where nobody has an account: there is nobody to tell. */
export async function checkNotice(db: Sql, catalogue: ShownCatalogue): Promise<CatalogueProblem[]> {
  if (!(await hasAccounts(db))) return [];
  return noticeProblems((await readAccepted(db)) ?? defaultCatalogue, catalogue, await nowOf(db));
}

async function writeAccepted(tx: Tx, { prices, terms = [] }: ShownCatalogue): Promise<void> {
  const row = { prices: JSON.stringify(prices), terms: JSON.stringify(terms) };
  await tx
    .insertInto("accepted_catalogue")
    .values(row)
    .onConflict((conflict) => conflict.column("one").doUpdateSet({ ...row, accepted_at: sql`now()` }))
    .execute();
}

function readAccepted(db: Sql): Promise<ShownCatalogue | undefined> {
  return db.selectFrom("accepted_catalogue").select(["prices", "terms"]).executeTakeFirst();
}

async function hasAccounts(db: Sql): Promise<boolean> {
  return (await db.selectFrom("identity_user").select("id").limit(1).executeTakeFirst()) !== undefined;
}

async function nowOf(db: Sql): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db);
  return rows[0]?.now ?? new Date();
}
