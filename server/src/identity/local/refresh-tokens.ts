import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * `session.generation.mac`: the database stores only the counter, so a copy of it yields no token, and a forged token is
 * refused without a query.
 */
export function writeRefreshToken(macKey: Buffer, session: { id: string; generation: number }): string {
  const { id, generation } = session;
  return `${id}.${generation}.${macOf(macKey, id, generation).toString("base64url")}`;
}

export function readRefreshToken(macKey: Buffer, token: string): { id: string; generation: number } | undefined {
  const [, id = "", digits = "", mac = ""] = /^([0-9a-z]{25})\.([1-9]\d{0,8})\.([\w-]{43})$/.exec(token) ?? [];
  const generation = Number(digits);
  const actual = Buffer.from(mac, "base64url");
  const expected = macOf(macKey, id, generation);
  // timingSafeEqual throws for unequal lengths. The text is compared too, because base64 has unused bits at its end.
  const isEqual = actual.length === expected.length && timingSafeEqual(actual, expected);
  return isEqual && expected.toString("base64url") === mac ? { id, generation } : undefined;
}

function macOf(macKey: Buffer, id: string, generation: number): Buffer {
  return createHmac("sha256", macKey).update(`${id}.${generation}`).digest();
}
