import type { exportAccount, ReplyOf } from "@berth/contract";
import { sql } from "kysely";
import type { Db, Tx } from "../database/database.ts";
import { readFlags } from "../identity/flags.ts";
import { readProfile } from "../identity/profiles.ts";

interface Owner {
  readonly id: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
}

type Document = Omit<ReplyOf<typeof exportAccount>, "status">;

/** Returns everything stored about a user in one snapshot, newest first (G71). The contract strips other columns. */
export async function exportAccountOf(db: Db, user: Owner): Promise<Document> {
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (tx) => {
      const opened = await tx
        .selectFrom("profiles")
        .select("created_at")
        .where("user_id", "=", user.id)
        .executeTakeFirst();
      const { name, phone } = await readProfile(tx, user);
      const { id: user_id, email, emailVerified: email_verified } = user;
      const created_at = opened?.created_at ?? null;
      return onWire({
        exported_at: new Date(),
        profile: { user_id, email, email_verified, name, phone, created_at },
        flags: await readFlags(tx, user.id),
        ...(await rented(tx, user.id)),
        ...(await paid(tx, user.id)),
        ...(await messagesOf(tx, user.id)),
        ...(await signedIn(tx, user.id)),
      });
    });
}

/** Times as ISO 8601 (G67), whatever the depth. */
function onWire(document: object): Document {
  return JSON.parse(JSON.stringify(document));
}

async function rented(tx: Tx, userId: string) {
  const own = tx.selectFrom("environments").select("id").where("user_id", "=", userId);
  return {
    environments: await tx
      .selectFrom("environments")
      .selectAll()
      .where("user_id", "=", userId)
      .orderBy("requested_at", "desc")
      .execute(),
    launch_stages: await tx.selectFrom("launch_stages").selectAll().where("environment_id", "in", own).execute(),
    sessions: await tx
      .selectFrom("sessions")
      .selectAll()
      .where("environment_id", "in", own)
      .orderBy("opened_at", "desc")
      .execute(),
    activity: await tx.selectFrom("activity").selectAll().where("environment_id", "in", own).execute(),
    mining_findings: await tx.selectFrom("mining_findings").selectAll().where("user_id", "=", userId).execute(),
    ...(await measured(tx, userId)),
    files: await tx
      .selectFrom("homes")
      .select(["subdomain", "size_mb", "delete_at as kept_until"])
      .where("user_id", "=", userId)
      .orderBy("subdomain")
      .execute(),
    places_in_line: await tx
      .selectFrom("queue_entries")
      .select(["gpu_count", "status", "asked_at", "closed_at"])
      .where("user_id", "=", userId)
      .orderBy("place", "desc")
      .execute(),
  };
}

/** Only spans of 600 s: they include the samples of a minute. */
async function measured(tx: Tx, userId: string) {
  const own = tx.selectFrom("environments").select("id").where("user_id", "=", userId);
  const of = (table: "samples" | "gpu_samples") =>
    sql<object>`
      select * from ${sql.table(table)} where environment_id in (${own}) and span_seconds = 600 order by at`.execute(
      tx,
    );
  return { measurements: (await of("samples")).rows, gpu_measurements: (await of("gpu_samples")).rows };
}

type Dated =
  | "orders"
  | "payments"
  | "disputes"
  | "refund_requests"
  | "notifications"
  | "support_tickets"
  | "mails"
  | "ssh_keys";

async function newestOf(tx: Tx, table: Dated, userId: string): Promise<readonly object[]> {
  const { rows } = await sql<object>`
    select * from ${sql.table(table)} where user_id = ${userId} order by created_at desc`.execute(tx);
  return rows;
}

const customerOf = [
  sql<string>`document->>'customer_name'`.as("customer_name"),
  sql<string>`document->>'customer_email'`.as("customer_email"),
] as const;

async function paid(tx: Tx, userId: string) {
  return {
    orders: await newestOf(tx, "orders", userId),
    payments: await newestOf(tx, "payments", userId),
    receipts: await tx
      .selectFrom("receipts")
      .select(["number", "issued_at", ...customerOf])
      .where("user_id", "=", userId)
      .orderBy("issued_at", "desc")
      .execute(),
    credit_notes: await tx
      .selectFrom("credit_notes")
      .select(["number", "refund_id", "amount_minor", "issued_at", ...customerOf])
      .where("user_id", "=", userId)
      .orderBy("issued_at", "desc")
      .execute(),
    refunds: await tx
      .selectFrom("refunds")
      .innerJoin("payments", "payments.id", "refunds.payment_id")
      .selectAll("refunds")
      .where("payments.user_id", "=", userId)
      .orderBy("refunds.created_at", "desc")
      .execute(),
    disputes: await newestOf(tx, "disputes", userId),
    refund_requests: await newestOf(tx, "refund_requests", userId),
    account_holds: await tx.selectFrom("account_holds").selectAll().where("user_id", "=", userId).execute(),
    account_warnings: await tx.selectFrom("account_warnings").selectAll().where("user_id", "=", userId).execute(),
    account_suspensions: await tx.selectFrom("account_suspensions").selectAll().where("user_id", "=", userId).execute(),
    time_credits: await tx.selectFrom("time_credits").selectAll().where("user_id", "=", userId).execute(),
    credits: await tx.selectFrom("granted_credits").selectAll().where("user_id", "=", userId).execute(),
    vouchers: await tx.selectFrom("vouchers").select(["id", "redeemed_at"]).where("user_id", "=", userId).execute(),
  };
}

async function messagesOf(tx: Tx, userId: string) {
  return {
    notifications: await newestOf(tx, "notifications", userId),
    support_tickets: await newestOf(tx, "support_tickets", userId),
    ticket_answers: await tx.selectFrom("ticket_answers").selectAll().where("user_id", "=", userId).execute(),
    mails: await newestOf(tx, "mails", userId),
  };
}

async function signedIn(tx: Tx, userId: string) {
  return {
    sign_ins: await tx
      .selectFrom("identity_session")
      .select(["created_at", "rotated_at as last_used_at", "user_agent", "ip"])
      .select(
        sql<Date | null>`case when revoked_at is not null then revoked_at when expires_at < now() then expires_at end`.as(
          "ended_at",
        ),
      )
      .where("user_id", "=", userId)
      .orderBy("created_at", "desc")
      .execute(),
    ssh_keys: await newestOf(tx, "ssh_keys", userId),
    linked_accounts: await tx
      .selectFrom("identity_links")
      .selectAll()
      .where("user_id", "=", userId)
      .orderBy("created_at", "desc")
      .execute(),
    passkeys: await tx
      .selectFrom("identity_passkeys")
      .select(["name", "created_at", "last_used_at", "backed_up"])
      .where("user_id", "=", userId)
      .orderBy("created_at")
      .execute(),
    share_links: await tx
      .selectFrom("share_links")
      .select(["environment_id", "created_at", "expires_at", "revoked_at", "views", "last_viewed_at"])
      .where("user_id", "=", userId)
      .orderBy("created_at", "desc")
      .execute(),
    environment_sign_ins: await tx
      .selectFrom("grants")
      .select(["environment_id", "created_at", "revoked_at as ended_at"])
      .where("user_id", "=", userId)
      .orderBy("created_at", "desc")
      .execute(),
  };
}
