import { createHmac, timingSafeEqual } from "node:crypto";

/** Whether a signature is the lower-case hex HMAC-SHA256 of the data, compared in constant time. */
export function isSigned(data: string | Buffer, signature: string, secret: string): boolean {
  const expected = Buffer.from(createHmac("sha256", secret).update(data).digest("hex"));
  // Compares byte lengths: timingSafeEqual throws on a difference, and 64 characters may be more bytes.
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
