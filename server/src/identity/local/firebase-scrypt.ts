import { createCipheriv, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

/** The password hash parameters of a Firebase project; base64 where binary. */
export interface FirebaseHashing {
  readonly signerKey: string;
  readonly saltSeparator: string;
  readonly rounds: number;
  /** The logarithm of the cost. */
  readonly memoryCost: number;
}

interface Stored extends FirebaseHashing {
  readonly salt: string;
  readonly hash: string;
}

const prefix = "$firebase-scrypt$";
const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

/** As it is stored in place of a PHC string, until the owner's first sign-in (G322). */
export function firebaseHashText({ signerKey, saltSeparator, rounds, memoryCost, salt, hash }: Stored): string {
  const parts = [saltSeparator, signerKey, salt, hash].map((text) => Buffer.from(text, "base64").toString("base64"));
  return `${prefix}ln=${memoryCost},r=${rounds}$${parts.join("$")}`;
}

/** Firebase's scrypt: the derived key encrypts the project's signer key, and that is the hash. */
export async function matchesFirebaseHash(password: string, stored: string): Promise<boolean> {
  const [, , parameters = "", ...parts] = stored.split("$");
  const [separator, signerKey, salt, hash] = parts.map((part) => Buffer.from(part, "base64"));
  const [, memoryCost, rounds] = /^ln=(\d+),r=(\d+)$/.exec(parameters) ?? [];
  if (!separator || !signerKey || !salt || !hash) throw new Error("A stored password is no hash of Firebase");
  const cost = { N: 2 ** Number(memoryCost), r: Number(rounds), p: 1, maxmem: 256 * 1024 ** 2 };
  const key = await derive(password, Buffer.concat([salt, separator]), 64, cost);
  const cipher = createCipheriv("aes-256-ctr", key.subarray(0, 32), Buffer.alloc(16));
  const actual = Buffer.concat([cipher.update(signerKey), cipher.final()]);
  return actual.length === hash.length && timingSafeEqual(actual, hash);
}
