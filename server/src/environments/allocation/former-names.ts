import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Sql, Tx } from "../../database/database.ts";
import { notFound } from "../../http/mount.ts";

const reservedDays = 365;

/**
 * Reserves the name of an environment that has ended for its owner, because browsers that opened it may hold its pages'
 * data, and links to it are still about (G301). Nobody's once the account is deleted.
 */
export async function reserveFormerName(
  tx: Tx,
  { subdomain, user_id }: { readonly subdomain: string; readonly user_id: string },
): Promise<void> {
  await sql`
    insert into former_names (name, user_id, reserved_until)
    values (${subdomain},
      case when not exists (select from deleted_accounts where user_id = ${user_id}) then ${user_id} end,
      now() + make_interval(days => ${reservedDays}))
    on conflict (name) do update set user_id = excluded.user_id, reserved_until = excluded.reserved_until`.execute(tx);
}

/** The former names of a user that nothing of theirs uses; those with kept files are listed with the files. */
export async function formerNamesOf(db: Sql, userId: string): Promise<{ name: string; reserved_until: string }[]> {
  const { rows } = await sql<{ name: string; reserved_until: Date }>`
    select name, reserved_until from former_names f
    where user_id = ${userId} and reserved_until > now() and not exists (
      select from subdomain_claims c where c.name = f.name and (order_id is not null or retained_until > now()))
    order by reserved_until desc, name`.execute(db);
  return rows.map(({ name, reserved_until }) => ({ name, reserved_until: reserved_until.toISOString() }));
}

/** From now on others may rent the name. Throws `not_found`, or `action_not_allowed` while something of the owner uses it. */
export async function giveNameFree(db: Db, name: string, userId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows: uses } = await sql<{ kept: boolean }>`
      select order_id is null as kept from subdomain_claims
      where name = ${name} and user_id = ${userId} and (order_id is not null or retained_until > now()) for update`.execute(
      tx,
    );
    const { rows } = await sql`
      delete from former_names where name = ${name} and user_id = ${userId} and reserved_until > now() returning name`.execute(
      tx,
    );
    if (rows.length === 0) throw notFound();
    if (uses[0])
      throw new AppError(
        "action_not_allowed",
        uses[0].kept
          ? `Files of ${name} are kept. Delete them first`
          : `${name} is in use, or its files are being deleted`,
      );
  });
}

/** The names of a deleted account stay reserved, for nobody (G71, G301). */
export async function forgetNameOwner(tx: Tx, userId: string): Promise<void> {
  await tx.updateTable("former_names").set({ user_id: null }).where("user_id", "=", userId).execute();
}

/** Deletes those whose year is over. */
export async function purgeFormerNames(db: Db): Promise<void> {
  await sql`delete from former_names where reserved_until <= now()`.execute(db);
}
