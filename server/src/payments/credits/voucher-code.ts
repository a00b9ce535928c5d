import { hash, randomBytes } from "node:crypto";

/** Crockford's: without i, l, o and u. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const length = 20;

/** A new code of 100 random bits, such as `7K3MQ-...`, in groups of five (G156). */
export function newVoucherCode(): string {
  const letters = [...randomBytes(length)].map((byte) => alphabet[byte % alphabet.length]).join("");
  return (letters.toUpperCase().match(/.{5}/g) ?? []).join("-");
}

/** The hash of a code as it is stored; letters that look alike are the same. Undefined for what is no code. */
export function voucherHash(typed: string): Buffer | undefined {
  const letters = typed.toLowerCase().replaceAll(/[\s-]/g, "").replaceAll("o", "0").replaceAll(/[il]/g, "1");
  if (letters.length !== length || [...letters].some((letter) => !alphabet.includes(letter))) return undefined;
  return hash("sha256", `voucher\0${letters}`, "buffer");
}
