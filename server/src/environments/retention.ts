import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { type Driver, DriverError } from "../drivers/driver.ts";
import { type Announce, instant } from "./notices.ts";

interface RetentionParts {
  readonly db: Db;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly failed: (error: unknown) => void;
}

interface Lapsed {
  readonly name: string;
  readonly home: string;
  readonly host_id: string;
}

/** How long before the deletion its owner hears of it, and the least they get where that is over already. */
const tellDays = 3;
const leastHours = 24;

/**
 * Tells of a coming deletion, once (P5, G31). Where nobody could be told in time, because the server was down, the files
 * are kept a day longer: what `deleteLapsedHomes` deletes has always been announced.
 */
export async function tellOfDeletion({
  db,
  announce,
}: {
  readonly db: Db;
  readonly announce: Announce;
}): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ name: string; user_id: string; retained_until: Date }>`
      update subdomain_claims
      set deletion_told_at = now(), retained_until = greatest(retained_until, now() + make_interval(hours => ${leastHours}))
      where order_id is null and deletion_told_at is null and retained_until <= now() + make_interval(days => ${tellDays})
      returning name, user_id, retained_until`.execute(tx);
    for (const { name, user_id: userId, retained_until: end } of rows)
      await announce(tx, {
        userId,
        cause: `home:${name}:${end.toISOString()}`,
        title: `The files of ${name} will be deleted`,
        body: `They are kept until ${instant(end)}. To keep them, launch an environment named ${name} before then.`,
        link: "/environments/create",
      });
  });
}

/** While its files are being deleted a name is nobody's; after a crash it is found again by this. */
const marker = "deleting:";

/**
 * Deletes the files whose keeping is over (G31), and frees their names. The name is taken first, so that nobody, its
 * owner included, launches into a folder that is being deleted. The only caller of `deleteHome`.
 */
export async function deleteLapsedHomes({ db, drivers, failed }: RetentionParts): Promise<void> {
  const { rows: taken } = await sql<{ name: string; user_id: string }>`
    update subdomain_claims set order_id = ${marker} || name, held_until = now() + interval '1 hour'
    where (order_id is null and retained_until <= now() and deletion_told_at is not null) or (order_id like ${`${marker}%`} and held_until <= now() + interval '50 minutes')
    returning name, user_id`.execute(db);
  for (const { name, user_id } of taken) {
    const { rows } = await sql<Lapsed>`
      select distinct on (home, host_id) subdomain as name, home, host_id from environments
      where subdomain = ${name} and user_id = ${user_id}`.execute(db);
    try {
      for (const { home, host_id } of rows) await drivers.get(host_id)?.deleteHome(home);
      await sql`delete from subdomain_claims where name = ${name} and order_id = ${marker} || name`.execute(db);
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      failed(error);
    }
  }
}
