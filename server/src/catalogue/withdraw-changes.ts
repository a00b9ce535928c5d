import { sql } from "kysely";
import type { Tx } from "../database/database.ts";
import type { CatalogueChange } from "./coming-changes.ts";

interface Announced extends CatalogueChange {
  /** The last account that was told; empty before the first. */
  readonly announced_until: string;
}

/** The part of an id that the words give; one that is announced again has a number behind it. */
const wordsOf = (id: string) => id.split(":").slice(0, 3).join(":");

/** What was announced, begins later, and was not taken back. */
async function readAnnounced(tx: Tx): Promise<readonly Announced[]> {
  const { rows } = await sql<Announced>`
    select id, title, body, link, announced_until from catalogue_changes c
    where withdraws is null and split_part(id, ':', 2)::date > (now() at time zone 'UTC')::date
      and not exists (select from catalogue_changes w where w.withdraws = c.id)
    order by id for update`.execute(tx);
  return rows;
}

/** Queues what is coming and not announced yet, under an id of its own when it was taken back before. */
export async function queueChanges(tx: Tx, coming: readonly CatalogueChange[]): Promise<void> {
  const announced = new Set((await readAnnounced(tx)).map(({ id }) => wordsOf(id)));
  for (const change of coming.filter(({ id }) => !announced.has(id))) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from catalogue_changes
      where withdraws is null and (id = ${change.id} or starts_with(id, ${`${change.id}:`}))`.execute(tx);
    const before = rows[0]?.count ?? 0;
    const id = before === 0 ? change.id : (`${change.id}:${before + 1}` as const);
    await tx
      .insertInto("catalogue_changes")
      .values({ ...change, id })
      .execute();
  }
}

/**
 * Ends the announcement of each change that has not begun and is no longer coming, and queues a notice for those who were
 * told of it (G166). One that nobody was told of is forgotten.
 */
export async function withdrawChanges(tx: Tx, coming: readonly CatalogueChange[]): Promise<void> {
  const wanted = new Set<string>(coming.map(({ id }) => id));
  for (const gone of (await readAnnounced(tx)).filter(({ id }) => !wanted.has(wordsOf(id)))) {
    if (gone.announced_until === "") await tx.deleteFrom("catalogue_changes").where("id", "=", gone.id).execute();
    else await withdraw(tx, gone, coming);
  }
}

async function withdraw(tx: Tx, { id, title, body, link }: Announced, coming: readonly CatalogueChange[]) {
  const kind = id.slice(0, id.indexOf(":") + 1);
  const instead = coming.some((change) => change.id.startsWith(kind))
    ? " What does change is in a notice of its own."
    : "";
  // Without its lease a batch that runs now is rolled back.
  await sql`
    update catalogue_changes set due_at = null, lease_token = null, lease_expires_at = null where id = ${id}`.execute(
    tx,
  );
  const notice = {
    ...{ id: `${id}:withdrawn`, withdraws: id, link },
    title: `Taken back: ${title}`,
    body: `This was announced, is taken back, and does not happen: "${body}"${instead}`,
  };
  await tx.insertInto("catalogue_changes").values(notice).execute();
}
