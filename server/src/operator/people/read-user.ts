import { sql } from "kysely";
import { readAudit } from "../../audit/read-audit.ts";
import type { Db } from "../../database/database.ts";
import { userIdOf } from "./find-user.ts";
import { previewSuspension } from "./preview-suspension.ts";

/** Rows of each list, newest first. */
const listLength = 20;

/** Returns an account for its operator, by id or address: without secrets, and nothing of what is in its files. */
export async function readUser(db: Db, who: string) {
  const userId = await userIdOf(db, who);
  const [profile, warnings, suspensions, orders, environments, money, acts, if_suspended] = await Promise.all([
    profileOf(db, userId),
    db.selectFrom("account_warnings").selectAll().where("user_id", "=", userId).orderBy("warned_at").execute(),
    db.selectFrom("account_suspensions").selectAll().where("user_id", "=", userId).orderBy("suspended_at").execute(),
    ordersOf(db, userId),
    environmentsOf(db, userId),
    moneyOf(db, userId),
    readAudit(db, { subject: userId, limit: listLength }),
    previewSuspension(db, userId),
  ]);
  const audit = acts.map(({ hash, ...act }) => act);
  return { ...profile, warnings, suspensions, money, environments, orders, if_suspended, audit };
}

interface Profile {
  readonly user_id: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly name: string;
  readonly phone: string;
  readonly created_at: Date;
  readonly last_sign_in: Date | null;
  readonly second_factor: boolean;
  readonly passkeys: number;
  readonly suspended: boolean;
  readonly held: boolean;
}

async function profileOf(db: Db, userId: string): Promise<Profile> {
  const { rows } = await sql<Profile>`
    select u.id as user_id, u.email, u.email_verified, coalesce(p.name, u.name, '') as name, coalesce(p.phone, '') as phone,
      u.created_at, u.disabled as suspended,
      exists (select from identity_second_factors where user_id = u.id and confirmed_at is not null) as second_factor,
      (select count(*)::int from identity_passkeys where user_id = u.id) as passkeys,
      (select max(created_at) from identity_session where user_id = u.id) as last_sign_in,
      exists (select from account_holds where user_id = u.id and lifted_at is null) as held
    from identity_user u left join profiles p on p.user_id = u.id where u.id = ${userId}`.execute(db);
  return rows[0] as Profile;
}

async function ordersOf(db: Db, userId: string) {
  return await db
    .selectFrom("orders")
    .select(["id", "status", "subdomain", "container_type", "gpu_count", "duration_hours", "amount_minor", "currency"])
    .select("created_at")
    .where("user_id", "=", userId)
    .orderBy("created_at", "desc")
    .limit(listLength)
    .execute();
}

async function environmentsOf(db: Db, userId: string) {
  return await db
    .selectFrom("environments")
    .select(["id", "subdomain", "status", "host_id", "gpu_count", "expires_at", "banked_seconds", "requested_at"])
    .where("user_id", "=", userId)
    .orderBy("requested_at", "desc")
    .limit(listLength)
    .execute();
}

interface Money {
  readonly currency: string;
  readonly paid_minor: number;
  readonly refunded_minor: number;
  readonly disputes: number;
}

/** By currency, in minor units. */
async function moneyOf(db: Db, userId: string): Promise<readonly Money[]> {
  const { rows } = await sql<Money>`
    select currency, sum(amount_minor)::bigint as paid_minor, sum(refund_minor)::bigint as refunded_minor,
      (select count(*) from disputes d where d.user_id = ${userId} and d.currency = p.currency) as disputes
    from payments p where user_id = ${userId} and status = 'captured' group by currency order by currency`.execute(db);
  return rows;
}
