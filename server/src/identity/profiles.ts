import type { Db, Sql, Tx } from "../database/database.ts";

export interface Profile {
  readonly name: string;
  readonly email: string;
  readonly phone: string;
}

interface Owner {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/**
 * Creates the profile if it is missing; `created` joins the transaction and runs once per user. Idempotent: called at
 * sign-up and when a session is validated, in case a crash or another provider left the user without one.
 */
export async function openProfile(
  db: Db,
  { id, email, name }: Owner,
  created: (tx: Tx, user: Owner) => Promise<void>,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const inserted = await tx
      .insertInto("profiles")
      .values({ user_id: id, email, name })
      .onConflict((conflict) => conflict.column("user_id").doNothing())
      .returning("user_id")
      .executeTakeFirst();
    if (inserted) await created(tx, { id, email, name });
  });
}

export async function readProfile(sql: Sql, { id, email, name }: Owner): Promise<Profile> {
  const row = await sql
    .selectFrom("profiles")
    .select(["name", "email", "phone"])
    .where("user_id", "=", id)
    .executeTakeFirst();
  return row ?? { name, email, phone: "" };
}

/** Profiles by user id; users without one are absent. */
export async function readProfiles(sql: Sql, userIds: readonly string[]): Promise<ReadonlyMap<string, Profile>> {
  const rows = await sql
    .selectFrom("profiles")
    .select(["user_id", "name", "email", "phone"])
    .where((where) => where("user_id", "=", where.fn.any(where.val([...userIds]))))
    .execute();
  return new Map(rows.map(({ user_id, ...profile }) => [user_id, profile]));
}

/** An absent phone is unchanged. */
export async function updateProfile(
  sql: Sql,
  { id, email }: Owner,
  { name, phone }: { name: string; phone?: string | undefined },
): Promise<void> {
  const change = { name, ...(phone !== undefined && { phone }) };
  await sql
    .insertInto("profiles")
    .values({ user_id: id, email, ...change })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(change))
    .execute();
}
