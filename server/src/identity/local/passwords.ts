import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { maxPasswordLength, signupPasswordLength } from "@berth/contract";
import { IdentityError } from "../identity.ts";
import { createFairQueue, type Sender } from "./fair-queue.ts";

// OWASP's second recommended parameter set for argon2id: 19 MiB, 2 passes. Memory is in KiB.
const memory = 19_456;
const passes = 2;
const parallelism = 1;
const prefix = `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$`;
const absent = `${prefix}${encode(Buffer.alloc(16))}$${encode(Buffer.alloc(32))}`;

const run = promisify(argon2);

/** Limits concurrent hashes: each takes memory and a thread of the pool that files and DNS share. */
const enqueue = createFairQueue(
  { concurrency: 2, maxQueued: 20 },
  () => new IdentityError("TOO_MANY_ATTEMPTS_TRY_LATER", { retryAfterSeconds: 2 }),
);

/** Throws WEAK_PASSWORD below 6 and above 256 characters (G46). */
export function requirePassword(password: string): void {
  if (password.length < signupPasswordLength || password.length > maxPasswordLength)
    throw new IdentityError("WEAK_PASSWORD");
}

/** Returns a PHC string of argon2id. Throws TOO_MANY_ATTEMPTS_TRY_LATER when the hash queue is full. */
export async function hashPassword(password: string, sender: Sender): Promise<string> {
  const salt = randomBytes(16);
  const tag = await enqueue(sender, () =>
    run("argon2id", { message: normalize(password), nonce: salt, memory, passes, parallelism, tagLength: 32 }),
  );
  return `${prefix}${encode(salt)}$${encode(tag)}`;
}

/**
 * `stored` is null for an unknown user: a dummy hash takes the same time, so that timing does not reveal whether an account
 * exists. `outdated`: hashed with other parameters, or by Firebase (G322), to be rehashed.
 */
export async function checkPassword(
  password: string,
  stored: string | null,
  sender: Sender,
): Promise<{ matches: boolean; outdated: boolean }> {
  const phc = stored ?? absent;
  if (phc.startsWith("$firebase-scrypt$")) {
    const { matchesFirebaseHash } = await import("./firebase-scrypt.ts");
    return { matches: await enqueue(sender, () => matchesFirebaseHash(password, phc)), outdated: true };
  }
  const { tag, ...parameters } = parse(phc);
  const actual = await enqueue(sender, () =>
    run("argon2id", { message: normalize(password), ...parameters, tagLength: tag.length }),
  );
  return { matches: timingSafeEqual(actual, tag) && stored !== null, outdated: !phc.startsWith(prefix) };
}

function parse(phc: string) {
  const found = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(phc);
  const [, m, t, p, salt, tag] = found ?? [];
  if (salt === undefined || tag === undefined) throw new Error("A stored password is not a PHC string of argon2id");
  return {
    memory: Number(m),
    passes: Number(t),
    parallelism: Number(p),
    nonce: Buffer.from(salt, "base64"),
    tag: Buffer.from(tag, "base64"),
  };
}

/** Keyboards may send the same password in different Unicode normalization forms. */
function normalize(password: string): string {
  return password.normalize("NFKC");
}

function encode(bytes: Buffer): string {
  return bytes.toString("base64").replace(/={1,2}$/, "");
}
