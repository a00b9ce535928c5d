import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Tx } from "../../database/database.ts";
import type { Page } from "../print-page.ts";

export interface UserSummary {
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly created_at: Date;
  readonly environments: number;
  readonly paid_orders: number;
  readonly warnings: number;
  readonly suspended_at: Date | null;
}

export const usersPerPage = 50;

/** Finds accounts whose address, name or id contains the text, newest first; empty text finds all. Pages count from 1. */
export async function findUsers(db: Db, text: string, page: number): Promise<Page<UserSummary>> {
  const pattern = `%${text.trim().replaceAll(/[\\%_]/g, "\\$&")}%`;
  const matches = sql`
    u.id = ${text.trim()} or u.email ilike ${pattern} or u.name ilike ${pattern} or u.id like ${pattern}`;
  const counted = sql<{ total: number }>`select count(*)::int as total from identity_user u where ${matches}`;
  const found = sql<UserSummary>`
    select u.id as user_id, u.email, coalesce(u.name, '') as name, u.created_at,
      (select count(*) from environments where user_id = u.id and status <> 'terminated') as environments,
      (select count(*) from orders where user_id = u.id and paid_at is not null and gateway <> 'credit') as paid_orders,
      (select count(*) from account_warnings where user_id = u.id) as warnings, s.suspended_at
    from identity_user u left join account_suspensions s on s.user_id = u.id and s.lifted_at is null
    where ${matches}
    order by u.created_at desc, u.id limit ${usersPerPage} offset ${usersPerPage * (page - 1)}`;
  const [{ rows }, { rows: totals }] = await Promise.all([found.execute(db), counted.execute(db)]);
  return { rows, total: totals[0]?.total ?? 0 };
}

/** Returns the id of the account with this id or address. Throws when there is none. */
export async function userIdOf(sqlOf: Db | Tx, idOrEmail: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select id from identity_user where id = ${idOrEmail} or email_key = lower(${idOrEmail.trim()})`.execute(sqlOf);
  if (rows[0]) return rows[0].id;
  throw new AppError("not_found", `There is no account ${idOrEmail}; users find TEXT looks for one`);
}
