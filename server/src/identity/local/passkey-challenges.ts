import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";

const lifeMs = 5 * 60_000;
const randomLength = 16;
const timeLength = 6;
const headLength = randomLength + timeLength;

/**
 * A challenge for one purpose: 128 random bits, the end of its five minutes, and a code over both with `key`. Nothing is stored
 * for it, because everybody who opens the sign-in page gets one.
 */
export function newChallenge(key: Buffer, purpose: string): string {
  const head = Buffer.alloc(headLength);
  randomBytes(randomLength).copy(head);
  head.writeUIntBE(Date.now() + lifeMs, randomLength, timeLength);
  return Buffer.concat([head, codeOf(key, purpose, head)]).toString("base64url");
}

/** Whether it is of this purpose and not too old. Whether it was used is what `spendChallenge` knows. */
export function isChallenge(key: Buffer, purpose: string, challenge: string): boolean {
  const bytes = Buffer.from(challenge, "base64url");
  const head = bytes.subarray(0, headLength);
  const expected = codeOf(key, purpose, head);
  const given = bytes.subarray(headLength);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
  return head.readUIntBE(randomLength, timeLength) > Date.now();
}

/** Of concurrent calls one gets true. The row outlives the challenge, also by another server's clock. */
export async function spendChallenge(tx: Tx, challenge: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("identity_spent_challenges")
    .values({
      hash: hash("sha256", Buffer.from(challenge, "base64url"), "buffer"),
      expires_at: sql`now() + interval '1 hour'`,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

function codeOf(key: Buffer, purpose: string, head: Buffer): Buffer {
  return createHmac("sha256", key).update(head).update(purpose).digest();
}
