import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { openBlob } from "../../account/ssh-keys/open-blob.ts";

/** The person touched the key. */
const touched = 1;
const flagsAndCounter = 5;

/** Types of keys in FIDO devices, which ssh2 does not know. */
export const securityKeyTypes: ReadonlySet<string> = new Set([
  "sk-ssh-ed25519@openssh.com",
  "sk-ecdsa-sha2-nistp256@openssh.com",
]);

/**
 * Whether a FIDO device signed `data` (PROTOCOL.u2f of OpenSSH). `signature` is without its type and its first length. False for
 * what is malformed.
 */
export function isSignedBySecurityKey(blob: Buffer, signature: Buffer, data: Buffer): boolean {
  const fields = stringsOf(blob);
  const [type, ...rest] = fields.map((each) => each.toString("latin1"));
  const application = fields.at(-1);
  const end = signature.length - flagsAndCounter;
  if (!application || end < 0 || ((signature[end] ?? 0) & touched) === 0) return false;
  const signed = Buffer.concat([sha256(application), signature.subarray(end), sha256(data)]);
  const bytes = signature.subarray(0, end);
  try {
    if (type === "sk-ssh-ed25519@openssh.com" && rest.length === 2)
      return verify(null, signed, edKey(fields[1] as Buffer), bytes);
    if (type === "sk-ecdsa-sha2-nistp256@openssh.com" && rest.length === 3)
      return verify("sha256", signed, { key: pointKey(fields[2] as Buffer), dsaEncoding: "ieee-p1363" }, pair(bytes));
  } catch {
    // No point of the curve.
  }
  return false;
}

function sha256(bytes: Buffer): Buffer {
  return hash("sha256", bytes, "buffer");
}

function edKey(x: Buffer): KeyObject {
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: x.toString("base64url") }, format: "jwk" });
}

function pointKey(point: Buffer): KeyObject {
  const x = point.toString("base64url", 1, 33);
  const y = point.toString("base64url", 33);
  return createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
}

/** Two numbers of any length as two of 32 bytes. */
function pair(bytes: Buffer): Buffer {
  return Buffer.concat(
    stringsOf(bytes).map((number) => Buffer.concat([Buffer.alloc(32), number]).subarray(number.length)),
  );
}

/** Up to the first that is cut short. */
function stringsOf(bytes: Buffer): Buffer[] {
  const blob = openBlob(bytes);
  const found: Buffer[] = [];
  for (let each = blob.bytes(); each; each = blob.bytes()) found.push(each);
  return found;
}
