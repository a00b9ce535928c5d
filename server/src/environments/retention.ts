import { type Selectable, sql } from "kysely";
import type { Db, Tx } from "../database/database.ts";
import type { HomesTable } from "../database/tables.ts";
import { type Driver, DriverError } from "../drivers/driver.ts";

interface RetentionParts {
  readonly db: Db;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly failed: (error: unknown) => void;
}

type Home = Selectable<HomesTable>;

/** While its files are being deleted a name is nobody's; after a crash the home is found again, and so is this. */
const marker = "deleting:";

/** Deletes the files whose keeping is over (G31), and measures those that are kept. */
export async function keepHomes(parts: RetentionParts): Promise<void> {
  await deleteLapsedHomes(parts);
  await measureHomes(parts);
}

/**
 * The name is taken first, so that nobody, its owner included, launches into a folder that is being deleted. The only
 * caller of `deleteHome`. A home that cannot be deleted now stays due.
 */
export async function deleteLapsedHomes({ db, drivers, failed }: RetentionParts): Promise<void> {
  const due = await db
    .selectFrom("homes")
    .selectAll()
    .where("delete_at", "<=", sql<Date>`now()`)
    .where("host_id", "in", [...drivers.keys()])
    .orderBy("delete_at")
    .limit(100)
    .execute();
  for (const home of due) {
    try {
      if (!(await db.transaction().execute((tx) => takeLapsed(tx, home)))) continue;
      await drivers.get(home.host_id)?.deleteHome(home.home);
      await db.transaction().execute((tx) => forget(tx, home));
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      failed(error);
    }
  }
  await sql`delete from subdomain_claims where order_id is null and retained_until <= now()`.execute(db);
}

/** False when an environment has taken the home back meanwhile. Names are locked before homes, as by whoever launches. */
async function takeLapsed(tx: Tx, { id, subdomain, user_id }: Home): Promise<boolean> {
  await sql`
    update subdomain_claims set order_id = ${marker} || name, held_until = now() + interval '1 hour'
    where name = ${subdomain} and user_id = ${user_id}
      and ((order_id is null and retained_until <= now()) or order_id = ${marker} || name)`.execute(tx);
  const { rows } = await sql`select 1 from homes where id = ${id} and delete_at <= now() for update`.execute(tx);
  return rows.length === 1;
}

/** Its owner does not want to wait for the end: from now on nobody launches into these files. */
export async function takeForDeletion(tx: Tx, { subdomain, user_id }: Pick<Home, "subdomain" | "user_id">) {
  await sql`
    update subdomain_claims set retained_until = now(),
      held_until = case when order_id is null then now() + interval '1 hour' else held_until end,
      order_id = coalesce(order_id, ${marker} || name)
    where name = ${subdomain} and user_id = ${user_id} and retained_until is not null`.execute(tx);
}

async function forget(tx: Tx, { id, subdomain, user_id }: Home): Promise<void> {
  await sql`
    delete from subdomain_claims
    where name = ${subdomain} and user_id = ${user_id} and order_id = ${marker} || name`.execute(tx);
  await sql`delete from homes where id = ${id} and delete_at is not null`.execute(tx);
}

/** Only where nothing runs: what a run has is its own statistics' matter, and changes while it is counted. */
async function measureHomes({ db, drivers, failed }: RetentionParts): Promise<void> {
  const { rows } = await sql<Home>`
    select * from homes h where size_mb is null and host_id = any(${[...drivers.keys()]}) and (delete_at is null or delete_at > now())
      and not exists (select 1 from environments e
        where e.home = h.home and e.host_id = h.host_id and e.status not in ('stopped', 'terminated'))
    limit 100`.execute(db);
  for (const { id, host_id, home } of rows) {
    try {
      const sizeMb = (await drivers.get(host_id)?.homeMb(home)) ?? null;
      await db
        .updateTable("homes")
        .set({ size_mb: sizeMb })
        .where("id", "=", id)
        .where("size_mb", "is", null)
        .execute();
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      failed(error);
    }
  }
}
