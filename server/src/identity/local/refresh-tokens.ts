import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * `session.generation.mac`: the database keeps only the counter, so a copy of it yields no token, and a forged one is
 * refused without a query.
 */
export function writeRefreshToken(macKey: Buffer, session: { id: string; generation: number }): string {
  const { id, generation } = session;
  return `${id}.${generation}.${macOf(macKey, id, generation).toString("base64url")}`;
}

export function readRefreshToken(macKey: Buffer, token: string): { id: string; generation: number } | undefined {
  const [, id = "", digits = "", mac = ""] = /^([0-9a-z]{25})\.([1-9]\d{0,8})\.([\w-]{43})$/.exec(token) ?? [];
  const generation = Number(digits);
  const got = Buffer.from(mac, "base64url");
  const want = macOf(macKey, id, generation);
  // The length is asked first because timingSafeEqual throws; the text, because base64 has spare bits at its end.
  const genuine = got.length === want.length && timingSafeEqual(got, want) && want.toString("base64url") === mac;
  return genuine ? { id, generation } : undefined;
}

function macOf(macKey: Buffer, id: string, generation: number): Buffer {
  return createHmac("sha256", macKey).update(`${id}.${generation}`).digest();
}
