import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { batch } from "../../async/batch.ts";
import type { Sql, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { addressKey } from "../../http/limit-requests.ts";
import { type Device, IdentityError, type IdentitySession } from "../identity.ts";
import type { Sender } from "./fair-queue.ts";
import type { UserRow } from "./users.ts";

/** As in Firebase's tokens: a password, or a custom token. */
export type SignInProvider = "password" | "custom" | "passkey";

/** How a sign-in began. */
export interface SignInWay {
  readonly provider: SignInProvider;
  /** Of the other provider's account that opened it (G416). */
  readonly issuer?: string | null;
}

/** The data that tokens are made from. */
export interface AuthSession {
  readonly id: string;
  readonly userId: string;
  readonly provider: SignInProvider;
  readonly generation: number;
  readonly authTime: Date;
}

export type Rotation =
  | { readonly kind: "rotated" | "reused"; readonly session: AuthSession }
  | { readonly kind: "ended" };

export async function openAuthSession(
  db: Sql,
  userId: string,
  { provider, issuer = null }: SignInWay,
  { userAgent, ip }: Device,
): Promise<AuthSession> {
  const row = await db
    .insertInto("identity_session")
    .values({
      id: newId(),
      user_id: userId,
      expires_at: sql`now() + interval '60 days'`,
      user_agent: userAgent?.slice(0, 256) ?? null,
      ip: ip ?? null,
      sign_in_provider: provider,
      issuer,
    })
    .returning(["id", "generation", "auth_time"])
    .executeTakeFirstOrThrow();
  return { id: row.id, userId, provider, generation: row.generation, authTime: row.auth_time };
}

/**
 * Rotates a refresh token: one statement increments the generation, so of concurrent tabs one wins. The others, and a retry
 * after a lost response, get the same successor for 60 s. An older generation means a stolen token: `reused`.
 */
export async function rotateAuthSession(db: Sql, id: string, generation: number): Promise<Rotation> {
  const rotated = await db
    .updateTable("identity_session")
    .set({ generation: generation + 1, rotated_at: sql`now()` })
    .where("id", "=", id)
    .where("generation", "=", generation)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .returning(["user_id", "auth_time", "sign_in_provider"])
    .executeTakeFirst();
  if (rotated) return { kind: "rotated", session: successor(id, generation, rotated) };
  const row = await db
    .selectFrom("identity_session")
    .select(["user_id", "auth_time", "generation", "sign_in_provider"])
    .select(sql<boolean>`rotated_at > now() - interval '60 seconds'`.as("in_grace"))
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .executeTakeFirst();
  if (!row) return { kind: "ended" };
  const isRetry = row.generation === generation + 1 && row.in_grace;
  return { kind: isRetry ? "rotated" : "reused", session: successor(id, generation, row) };
}

interface Row {
  readonly user_id: string;
  readonly auth_time: Date;
  readonly sign_in_provider: SignInProvider;
}

function successor(id: string, generation: number, row: Row): AuthSession {
  return {
    id,
    userId: row.user_id,
    provider: row.sign_in_provider,
    generation: generation + 1,
    authTime: row.auth_time,
  };
}

type SessionRow = UserRow & { readonly valid: boolean };

/**
 * Reads the user of a valid session; concurrent reads are batched into one query. Throws TOKEN_REVOKED, USER_DISABLED.
 */
export function createAuthSessionReader(db: Sql): (id: string, userId: string) => Promise<UserRow> {
  const find = createAuthSessionFinder(db);
  return async (id, userId) => requireValid(await find(id), userId);
}

/** Undefined: there is no such session. */
export function createAuthSessionFinder(db: Sql): (id: string) => Promise<SessionRow | undefined> {
  return batch((ids: readonly string[]) => readSessions(db, ids));
}

/** Throws TOKEN_REVOKED, USER_DISABLED. */
export function requireValid(row: SessionRow | undefined, userId: string): UserRow {
  if (!row?.valid || row.id !== userId) throw new IdentityError("TOKEN_REVOKED");
  if (row.disabled) throw new IdentityError("USER_DISABLED");
  return row;
}

async function readSessions(db: Sql, ids: readonly string[]) {
  const rows = await db
    .selectFrom("identity_session as session")
    .innerJoin("identity_user as account", "account.id", "session.user_id")
    .selectAll("account")
    .select("session.id as session_id")
    .select(sql<boolean>`session.revoked_at is null and session.expires_at > now()`.as("valid"))
    .where((where) => where("session.id", "=", where.fn.any(where.val([...new Set(ids)]))))
    .execute();
  const bySession = new Map(rows.map((row) => [row.session_id, row]));
  return ids.map((id) => bySession.get(id));
}

/**
 * Throws `unauthenticated` unless the session is open. The caller holds a lock that a password change takes too, so that a
 * concurrent request creates nothing that survives the change (G109).
 */
export async function requireOpenAuthSession(tx: Tx, id: string | null): Promise<void> {
  if (!(await isAuthSessionOpen(tx, id))) throw new AppError("unauthenticated", "Sign in first");
}

/** Null comes from a provider without sessions. With `lock`, a sign-out that runs at the same time waits for `tx`. */
export async function isAuthSessionOpen(tx: Tx, id: string | null, { lock = false } = {}): Promise<boolean> {
  if (id === null) return true;
  const row = await tx
    .selectFrom("identity_session")
    .select("revoked_at")
    .where("id", "=", id)
    .$if(lock, (query) => query.forShare())
    .executeTakeFirst();
  return row?.revoked_at === null;
}

export async function listAuthSessions(db: Sql, userId: string): Promise<readonly IdentitySession[]> {
  const rows = await db
    .selectFrom("identity_session")
    .selectAll()
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .orderBy("rotated_at", "desc")
    .limit(50)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    lastUsedAt: row.rotated_at,
    userAgent: row.user_agent,
    ip: row.ip,
    byPasskey: row.sign_in_provider === "passkey",
    issuer: row.issuer,
  }));
}

/** Whether the session began with a passkey, which is two factors in one (G424). */
export async function isPasskeySession(db: Sql, id: string | null): Promise<boolean> {
  const row = await db
    .selectFrom("identity_session")
    .select("sign_in_provider")
    .where("id", "=", id ?? "")
    .executeTakeFirst();
  return row?.sign_in_provider === "passkey";
}

/** IP addresses of this user's sign-ins, newest first; includes ended ones until they are purged. */
async function listAddresses(db: Sql, userId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("identity_session")
    .select("ip")
    .where("user_id", "=", userId)
    .orderBy("created_at", "desc")
    .limit(200)
    .execute();
  return rows.flatMap(({ ip }) => ip ?? []);
}

/** Queried for unknown users too, so that timing does not reveal whether an account exists. */
export async function senderOf(db: Sql, userId: string | undefined, from: string): Promise<Sender> {
  const network = addressKey(from);
  const addresses = await listAddresses(db, userId ?? "");
  return { network, familiar: addresses.some((address) => addressKey(address) === network) };
}

/**
 * Ends all sign-ins of a user with their environment grants: `only` limits it to one, `keep` spares one (its environment
 * tabs sign in again by themselves). Triggers on the rows notify the gateway and open streams. Updates codes before
 * sign-ins, the lock order of the code exchange.
 */
export async function endAuthSessions(
  tx: Tx,
  userId: string,
  { only, keep, reason }: { only?: string | undefined; keep?: string | undefined; reason: string },
): Promise<void> {
  await tx
    .updateTable("sign_in_codes")
    .set({ used_at: sql`now()` })
    .where("user_id", "=", userId)
    .where("used_at", "is", null)
    .$if(only !== undefined, (query) => query.where("auth_session", "=", String(only)))
    .execute();
  await tx
    .updateTable("identity_session")
    .set({ revoked_at: sql`now()`, revoked_reason: reason })
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .$if(only !== undefined, (query) => query.where("id", "=", String(only)))
    .$if(keep !== undefined, (query) => query.where("id", "<>", String(keep)))
    .execute();
  await tx
    .updateTable("grants")
    .set({ revoked_at: sql`now()` })
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .$if(only !== undefined, (query) => query.where("auth_session", "=", String(only)))
    .execute();
}
