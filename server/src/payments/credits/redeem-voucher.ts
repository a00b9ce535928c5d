import type { Credit } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Tx } from "../../database/database.ts";
import { formatInstant } from "../../text/format-instant.ts";
import { addCredit } from "./add-credit.ts";
import { readCredits } from "./read-credits.ts";
import { voucherHash } from "./voucher-code.ts";

interface Voucher {
  readonly id: string;
  readonly batch_id: string;
  readonly user_id: string | null;
  readonly credit_id: string | null;
  readonly redeemed_at: Date | null;
  readonly revoked: boolean;
  readonly expires_at: Date | null;
  readonly expired: boolean;
  readonly gpu_hours: number;
  readonly alone: boolean;
  readonly per_month: number | null;
}

/**
 * Turns a code into a credit of the user, once (G155). The same user's repetition returns the same credit while it is open.
 * Throws `not_found` for a code that does not exist, `voucher_refused` with the reason.
 */
export async function redeemVoucher(db: Db, userId: string, code: string): Promise<Credit> {
  return await db.transaction().execute(async (tx) => {
    const voucher = await lockVoucher(tx, voucherHash(code));
    if (!voucher) throw unknownCode();
    if (voucher.user_id !== null && voucher.user_id !== userId)
      throw refused("This code is used: another account has redeemed it");
    if (voucher.user_id === userId) return await redeemedBefore(tx, userId, voucher);
    await refuse(tx, userId, voucher);
    const { id, gpu_hours: gpuHours, alone } = voucher;
    const credit = await addCredit(tx, { userId, gpuHours, source: "voucher", note: "", alone });
    if (!credit) throw unknownCode();
    await tx
      .updateTable("vouchers")
      .set({ user_id: userId, credit_id: credit.id, redeemed_at: sql`now()` })
      .where("id", "=", id)
      .execute();
    return credit;
  });
}

/** Locks the batch too: its limits are counted exactly. */
async function lockVoucher(tx: Tx, hash: Buffer | undefined): Promise<Voucher | undefined> {
  if (!hash) return undefined;
  const { rows } = await sql<Voucher>`
    select v.id, v.batch_id, v.user_id, v.credit_id, v.redeemed_at, v.revoked_at is not null as revoked,
      b.expires_at, coalesce(b.expires_at <= now(), false) as expired, b.gpu_hours, b.alone, b.per_month
    from vouchers v join voucher_batches b on b.id = v.batch_id where v.code_hash = ${hash} for update`.execute(tx);
  return rows[0];
}

async function redeemedBefore(tx: Tx, userId: string, { credit_id, redeemed_at }: Voucher): Promise<Credit> {
  const open = (await readCredits(tx, userId)).find(({ id }) => id === credit_id);
  if (open) return open;
  const on = redeemed_at ? ` on ${formatInstant(redeemed_at)} UTC` : "";
  throw refused(`You redeemed this code${on}, and its hours are used`);
}

/** Throws the reason why this voucher cannot be redeemed by this user now. */
async function refuse(tx: Tx, userId: string, voucher: Voucher): Promise<void> {
  const { batch_id, expires_at, per_month } = voucher;
  if (voucher.revoked) throw refused("This code was withdrawn by the seller");
  if (voucher.expired && expires_at)
    throw refused(`This code could be redeemed until ${formatInstant(expires_at)} UTC`);
  const { rows } = await sql<{ own: number; of_month: number }>`
    select count(*) filter (where user_id = ${userId}) as own,
      count(*) filter (where redeemed_at >= date_trunc('month', now(), 'UTC')) as of_month
    from vouchers where batch_id = ${batch_id} and redeemed_at is not null`.execute(tx);
  const [counted] = rows;
  if ((counted?.own ?? 0) > 0)
    throw refused("You have redeemed a code of this kind before; each account can redeem one");
  if (per_month !== null && (counted?.of_month ?? 0) >= per_month)
    throw refused("This month's codes of this kind are all redeemed. The code stays valid: try it next month");
}

function unknownCode(): AppError {
  return new AppError("not_found", "There is no such code. Check each letter: a code has four groups of five");
}

function refused(message: string): AppError {
  return new AppError("voucher_refused", message);
}
