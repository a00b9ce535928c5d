import { createHmac } from "node:crypto";

/** The six digits of an authenticator app (RFC 6238), some steps of 30 s from now. */
export function codeOf(base32: string, steps = 0): string {
  const bits = [...base32].map((letter) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"),
  );
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const key = Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
  const mac = createHmac("sha1", key).update(counter).digest();
  const at = (mac[19] ?? 0) & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}
