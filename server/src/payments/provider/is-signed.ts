import { createHmac, timingSafeEqual } from "node:crypto";

/** Whether a signature is the lower-case hex HMAC-SHA256 of the data, compared in constant time. */
export function isSigned(data: string | Buffer, signature: string, secret: string): boolean {
  const expected = Buffer.from(createHmac("sha256", secret).update(data).digest("hex"));
  // Bytes, not characters: a multibyte text of 64 characters is longer, and timingSafeEqual would throw.
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
