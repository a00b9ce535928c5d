import { createPublicKey, hash, type JsonWebKey } from "node:crypto";
import { isPrivateKey, privateKeyRefusal } from "@berth/contract";
import { AppError } from "../../app-error.ts";
import { type BlobReader, openBlob } from "./open-blob.ts";

export interface PublicKey {
  readonly type: string;
  /** Type and base64, as in an authorized_keys file. */
  readonly line: string;
  /** SHA256:..., as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
  /** What follows the key in its line; mostly user@machine. */
  readonly comment: string;
}

/** Of RSA (NIST SP 800-131A); all keys of an account have to fit into one header (images/ssh.py). */
const [leastBits, mostBits] = [2048, 4096];

/** Of keys that are well-formed and still no use, and of those that another account has: nobody learns which (G411). */
export const unusableKey = "This key cannot be added. Make a new one: ssh-keygen -t ed25519";

/** Reads the one line of a `.pub` file (G411); throws `invalid_request` with a sentence for whoever pasted it. */
export function readPublicKey(text: string): PublicKey {
  if (isPrivateKey(text)) throw refusal(privateKeyRefusal);
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const [line = ""] = lines;
  if (/^-{4,5} ?BEGIN/.test(line)) throw refusal(otherFormat);
  if (lines.length > 1) throw refusal("Paste one line with one key. Add further keys one by one.");
  const [type = "", base64 = "", ...comment] = line.split(/[ \t]+/);
  const check = checks.get(type);
  if (!check) throw refusal(whyNot(type, line));
  const blob = /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, "base64") : undefined;
  const reader = blob && openBlob(blob);
  if (reader?.text() !== type) throw refusal(incomplete);
  check(reader);
  if (!reader.isAtEnd()) throw refusal(incomplete);
  return {
    type,
    line: `${type} ${blob?.toString("base64")}`,
    // Without the one "=" at the end.
    fingerprint: `SHA256:${hash("sha256", blob as Buffer, "base64").slice(0, -1)}`,
    comment: comment.join(" "),
  };
}

const otherFormat =
  "This public key is in another format. Paste the one line that begins with a type such as ssh-ed25519; " +
  "ssh-keygen -i -f FILE prints it, and PuTTYgen shows it at the top of its window.";
const incomplete = "This key is not complete. Copy the whole line of the .pub file again.";
const offered = "ssh-ed25519, ecdsa-sha2-nistp256, -384 or -521, ssh-rsa, or the types that begin with sk-";

function whyNot(type: string, line: string): string {
  if (type === "ssh-dss")
    return "DSA keys are too weak and OpenSSH dropped them. Make a new one: ssh-keygen -t ed25519";
  if (type.endsWith("-cert-v01@openssh.com"))
    return "This is a certificate. Paste the public key that it was made for: its file ends in .pub, not in -cert.pub.";
  if (line.split(/[ \t]+/).some((word) => checks.has(word)))
    return "Paste the line from the key's type on, such as ssh-ed25519: options and names before it are not taken.";
  return `This is not a public SSH key. It is one line that begins with ${offered}.`;
}

const checks: ReadonlyMap<string, (blob: BlobReader) => void> = new Map([
  ["ssh-ed25519", ed25519],
  ["ecdsa-sha2-nistp256", (blob) => ecdsa(blob, "nistp256", "P-256", 32)],
  ["ecdsa-sha2-nistp384", (blob) => ecdsa(blob, "nistp384", "P-384", 48)],
  ["ecdsa-sha2-nistp521", (blob) => ecdsa(blob, "nistp521", "P-521", 66)],
  ["ssh-rsa", rsa],
  [
    "sk-ssh-ed25519@openssh.com",
    (blob) => {
      ed25519(blob);
      application(blob);
    },
  ],
  [
    "sk-ecdsa-sha2-nistp256@openssh.com",
    (blob) => {
      ecdsa(blob, "nistp256", "P-256", 32);
      application(blob);
    },
  ],
]);

function ed25519(blob: BlobReader): void {
  if (blob.bytes()?.length !== 32) throw refusal(incomplete);
}

/** An uncompressed point, which has to be on its curve. */
function ecdsa(blob: BlobReader, name: string, crv: string, size: number): void {
  const curve = blob.text();
  const point = blob.bytes();
  if (curve !== name || point?.length !== 1 + 2 * size || point[0] !== 4) throw refusal(incomplete);
  const coordinate = (from: number) => point.subarray(from, from + size).toString("base64url");
  requireUsable({ kty: "EC", crv, x: coordinate(1), y: coordinate(1 + size) });
}

function rsa(blob: BlobReader): void {
  const [exponent, modulus] = [blob.number(), blob.number()];
  if (!exponent || !modulus) throw refusal(incomplete);
  const bits = BigInt(`0x${modulus.toString("hex")}`).toString(2).length;
  if (bits < leastBits || bits > mostBits) throw refusal(wrongLength(bits));
  const isOdd = [exponent, modulus].every((each) => (each.at(-1) ?? 0) % 2 === 1);
  if (!isOdd || exponent.length > 8 || BigInt(`0x${exponent.toString("hex")}`) < 3n) throw refusal(unusableKey);
  requireUsable({ kty: "RSA", e: exponent.toString("base64url"), n: modulus.toString("base64url") });
}

function wrongLength(bits: number): string {
  const problem = bits < leastBits ? `too short: ${leastBits} is the least` : `too long: ${mostBits} is the most`;
  return `This RSA key has ${bits} bits and is ${problem}. Make a new one: ssh-keygen -t ed25519`;
}

/** What a security key's signatures are bound to; browsers' keys are bound to web sites. */
function application(blob: BlobReader): void {
  const name = blob.text();
  if (name === undefined) throw refusal(incomplete);
  if (!name.startsWith("ssh:")) throw refusal(unusableKey);
}

function requireUsable(key: JsonWebKey): void {
  try {
    createPublicKey({ format: "jwk", key });
  } catch (cause) {
    throw refusal(unusableKey, cause);
  }
}

function refusal(sentence: string, cause?: unknown): AppError {
  return new AppError("invalid_request", sentence, cause === undefined ? {} : { cause });
}
