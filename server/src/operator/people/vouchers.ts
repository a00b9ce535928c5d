import { plural } from "@berth/contract";
import { creditsListed } from "@berth/contract/console/credits";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import type { Db, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { newVoucherCode, voucherHash } from "../../payments/credits/voucher-code.ts";

interface NewVouchers {
  readonly gpuHours: number;
  readonly count: number;
  /** Undefined: no limit. */
  readonly perMonth: number | undefined;
  readonly expiresAt: Date | undefined;
  /** Their hours start an environment by themselves, without a payment (G332). */
  readonly alone?: boolean;
}

/** Makes codes of one kind. They are returned once and stored as hashes only (G156). */
export async function createVouchers(db: Db, wanted: NewVouchers, author: Author) {
  const reason = requireReason(author);
  const { gpuHours: gpu_hours, count, perMonth = null, expiresAt: expires_at = null, alone = false } = wanted;
  const id = newId();
  const codes = Array.from({ length: count }, newVoucherCode);
  await db.transaction().execute(async (tx) => {
    await requireFuture(tx, expires_at);
    await tx
      .insertInto("voucher_batches")
      .values({ id, gpu_hours, reason, per_month: perMonth, expires_at, alone })
      .execute();
    const rows = codes.map((code) => ({ id: newId(), batch_id: id, code_hash: hashOf(code) }));
    await tx.insertInto("vouchers").values(rows).execute();
    const details = {
      codes: count,
      gpu_hours,
      per_month: perMonth,
      expires_at: expires_at?.toISOString() ?? null,
      alone,
    };
    await recordAct(tx, author, "voucher.create", id, details);
  });
  return { id, codes };
}

function hashOf(code: string): Buffer {
  const hash = voucherHash(code);
  if (!hash) throw new Error("a new code that is none");
  return hash;
}

/** By the database's clock. */
async function requireFuture(tx: Tx, at: Date | null): Promise<void> {
  const { rows } = await sql<{ over: boolean }>`select ${at}::timestamptz <= now() as over`.execute(tx);
  if (rows[0]?.over)
    throw new AppError("invalid_request", `${at?.toISOString()} is over: nobody could redeem these codes`);
}

export interface VoucherBatch {
  readonly id: string;
  readonly gpu_hours: number;
  readonly codes: number;
  readonly redeemed: number;
  readonly revoked: number;
  readonly per_month: number | null;
  readonly alone: boolean;
  readonly expires_at: Date | null;
  readonly created_at: Date;
  readonly reason: string;
}

/** Returns the kinds of vouchers, newest first, with how many of their codes are redeemed and revoked. */
export async function listVouchers(db: Db): Promise<readonly VoucherBatch[]> {
  const { rows } = await sql<VoucherBatch>`
    select b.id, b.gpu_hours, count(v.id) as codes, count(v.redeemed_at) as redeemed, count(v.revoked_at) as revoked,
      b.per_month, b.alone, b.expires_at, b.created_at, b.reason
    from voucher_batches b join vouchers v on v.batch_id = b.id
    group by b.id order by b.created_at desc, b.id limit ${creditsListed}`.execute(db);
  return rows;
}

export interface RedeemedVoucher {
  readonly user_id: string;
  /** Null: the account was deleted. */
  readonly email: string | null;
  readonly redeemed_at: Date;
  readonly state: "open" | "used" | "revoked";
  readonly used_by_order: string | null;
}

/** Who redeemed which code of a kind and when, oldest first, and what became of its credit. Throws for no kind. */
export async function readRedeemed(db: Db, kind: string): Promise<readonly RedeemedVoucher[]> {
  const found = await db.selectFrom("voucher_batches").select("id").where("id", "=", kind).executeTakeFirst();
  if (!found) throw new AppError("not_found", `There is no kind ${kind}; vouchers list names them`);
  const { rows } = await sql<RedeemedVoucher>`
    select v.user_id, u.email, v.redeemed_at, c.used_by_order,
      case when c.used_by_order is not null then 'used' when c.revoked_at is not null then 'revoked' else 'open' end as state
    from vouchers v join granted_credits c on c.id = v.credit_id left join identity_user u on u.id = v.user_id
    where v.batch_id = ${kind} order by v.redeemed_at, v.id`.execute(db);
  return rows;
}

/** What `revokeVouchers` did, in a sentence. */
export function voidText(codes: number): string {
  return codes === 0 ? "That was revoked before" : `${plural(codes, "code is", "codes are")} void now`;
}

/**
 * Revokes one code, or by the id of its kind every code that is not redeemed. Returns how many, 0 when that was done before.
 * A credit that a code has brought stays. Throws for a code that does not exist or is redeemed.
 */
export async function revokeVouchers(db: Db, codeOrId: string, author: Author): Promise<number> {
  requireReason(author);
  return await db.transaction().execute(async (tx) => {
    const hash = voucherHash(codeOrId) ?? null;
    const { rows } = await sql<{ id: string; batch_id: string; redeemed: boolean; revoked: boolean }>`
      select id, batch_id, redeemed_at is not null as redeemed, revoked_at is not null as revoked from vouchers
      where code_hash = ${hash} or batch_id = ${codeOrId} order by id for update`.execute(tx);
    const [first] = rows;
    if (!first) throw new AppError("not_found", "There is no such voucher; vouchers list names the kinds by their ids");
    if (rows.every(({ redeemed }) => redeemed))
      throw new AppError("action_not_allowed", "It is redeemed: credits revoke takes back a credit that is still open");
    const open = rows.filter(({ redeemed, revoked }) => !redeemed && !revoked).map(({ id }) => id);
    if (open.length === 0) return 0;
    await sql`update vouchers set revoked_at = now() where id = any(${open})`.execute(tx);
    await recordAct(tx, author, "voucher.revoke", first.batch_id, { codes: open.length });
    return open.length;
  });
}
