import { generateKeyPairSync, hash, type KeyObject, sign } from "node:crypto";
import { expect, test } from "vitest";
import { isSignedBySecurityKey } from "./security-key.ts";

const application = Buffer.from("ssh:");
const data = Buffer.from("what the client signs");
const text = (value: Buffer | string) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(value));
  return Buffer.concat([length, Buffer.from(value as string)]);
};
const sha256 = (bytes: Buffer) => hash("sha256", bytes, "buffer");
const bytesOf = (field: string | undefined) => Buffer.from(field ?? "", "base64url");

/** What a FIDO device signs: that a person touched it, and its counter of signatures, around the data. */
function device(type: "ed25519" | "ecdsa") {
  const { privateKey, publicKey } =
    type === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = publicKey.export({ format: "jwk" });
  const blob =
    type === "ed25519"
      ? [text("sk-ssh-ed25519@openssh.com"), text(bytesOf(x)), text(application)]
      : [
          ...[text("sk-ecdsa-sha2-nistp256@openssh.com"), text("nistp256")],
          ...[text(Buffer.concat([Buffer.from([4]), bytesOf(x), bytesOf(y)])), text(application)],
        ];
  return { blob: Buffer.concat(blob), sign: (flags: number) => signatureOf(type, privateKey, flags) };
}

function signatureOf(type: "ed25519" | "ecdsa", key: KeyObject, flags: number): Buffer {
  const end = Buffer.from([flags, 0, 0, 1, 2]);
  const signed = Buffer.concat([sha256(application), end, sha256(data)]);
  if (type === "ed25519") return Buffer.concat([sign(null, signed, key), end]);
  const pair = sign("sha256", signed, { key, dsaEncoding: "ieee-p1363" });
  // Numbers without leading zeros, and with one where the first bit is set, as SSH writes them.
  const numbers = [pair.subarray(0, 32), pair.subarray(32)].map((each) => {
    const first = each.findIndex((byte) => byte !== 0);
    const short = each.subarray(first);
    return text((short[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), short]) : short);
  });
  return Buffer.concat([...numbers, end]);
}

test.each(["ed25519", "ecdsa"] as const)("G405 a FIDO key of type %s signs in when it was touched", (type) => {
  // Numbers of a signature have different lengths.
  for (let round = 0; round < 40; round++) {
    const { blob, sign } = device(type);
    expect(isSignedBySecurityKey(blob, sign(1), data)).toBe(true);
    expect(isSignedBySecurityKey(blob, sign(5), data)).toBe(true);
    expect(isSignedBySecurityKey(blob, sign(0), data)).toBe(false);
    expect(isSignedBySecurityKey(blob, sign(1), Buffer.from("something else"))).toBe(false);
    expect(isSignedBySecurityKey(device(type).blob, sign(1), data)).toBe(false);
  }
});

test("what is malformed is no signature of a FIDO key", () => {
  const { blob, sign } = device("ecdsa");
  const signature = sign(1);
  for (let end = 0; end < blob.length; end++)
    expect(isSignedBySecurityKey(blob.subarray(0, end), signature, data)).toBe(false);
  for (let end = 0; end < signature.length; end++)
    expect(isSignedBySecurityKey(blob, signature.subarray(0, end), data)).toBe(false);
});
