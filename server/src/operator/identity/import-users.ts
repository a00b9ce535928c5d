import { sql } from "kysely";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import type { Db, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { isSuspended } from "../../identity/is-suspended.ts";
import type { ImportedUser } from "./users-file.ts";

export interface Imported {
  readonly imported: number;
  /** Accounts that were here before, with their ids. */
  readonly known: number;
  /** Ids of accounts without an address, with another one's, or deleted here. */
  readonly refused: readonly string[];
}

/** Takes accounts over in one transaction (G322); a second time nothing changes. Mirrored ones become accounts of our own. */
export async function importUsers(db: Db, users: readonly ImportedUser[], author: Author): Promise<Imported> {
  requireReason(author);
  return await db.transaction().execute(async (tx) => {
    const refused = await refusedIds(tx, users);
    const taken = users.filter(({ id }) => !refused.has(id));
    const ids = await insertUsers(tx, taken);
    for (const user of taken.filter(({ id, disabled }) => disabled && ids.has(id)))
      await recordSuspension(tx, user.id, author);
    await recordAct(tx, author, "accounts.import", "accounts", { imported: ids.size, refused: refused.size });
    return { imported: ids.size, known: taken.length - ids.size, refused: [...refused] };
  });
}

async function refusedIds(tx: Tx, users: readonly ImportedUser[]): Promise<ReadonlySet<string>> {
  const keys = users.map(({ email_key }) => email_key);
  const here = await tx
    .selectFrom("identity_user")
    .select(["id", "email_key"])
    .where((where) => where("email_key", "=", where.fn.any(where.val(keys))))
    .execute();
  const deleted = await tx.selectFrom("deleted_accounts").select("user_id").execute();
  const gone = new Set(deleted.map(({ user_id }) => user_id));
  const owners = new Map(here.map(({ id, email_key }) => [email_key, id]));
  const refused = new Set<string>();
  for (const { id, email_key } of users) {
    const owner = owners.get(email_key) ?? id;
    if (email_key === "" || owner !== id || gone.has(id)) refused.add(id);
    else owners.set(email_key, id);
  }
  return refused;
}

/** Returns the ids of those that were not accounts of our own before. */
async function insertUsers(tx: Tx, users: readonly ImportedUser[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    insert into identity_user (id, email, email_key, password_hash, name, email_verified, disabled, created_at)
    select distinct on (id) id, email, email_key, password_hash, name, email_verified, disabled, created_at
    from jsonb_to_recordset(${JSON.stringify(users)}::jsonb) as u(id text, email text, email_key text,
      password_hash text, name text, email_verified boolean, disabled boolean, created_at timestamptz)
    on conflict (id) do update set password_hash = excluded.password_hash, signed_in_since = null, updated_at = now(),
        disabled = identity_user.disabled or excluded.disabled
      where identity_user.signed_in_since is not null
    returning id`.execute(tx);
  return new Set(rows.map(({ id }) => id));
}

/** So that an operator can lift it. */
async function recordSuspension(tx: Tx, userId: string, { reason }: Author): Promise<void> {
  if (await isSuspended(tx, userId)) return;
  await tx.insertInto("account_suspensions").values({ id: newId(), user_id: userId, reason }).execute();
}
