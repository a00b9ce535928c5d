import { generateKeyPairSync, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { readPublicKey, unusableKey } from "./read-public-key.ts";
import { blobOf, newPublicKey, publicKeys, shortRsaKey } from "./testing/public-keys.ts";

test.each(publicKeys)("$type has the fingerprint that ssh-keygen prints", ({ type, base64, fingerprint }) => {
  const line = `${type} ${base64}`;
  expect(readPublicKey(`\r\n ${type}\t${base64}   ada@the laptop \r\n\n`)).toEqual({
    ...{ type, line, fingerprint },
    comment: "ada@the laptop",
  });
  expect(readPublicKey(line).comment).toBe("");
});

const [ed, , , , rsa] = publicKeys;
const line = (type: string, ...parts: readonly (string | Buffer)[]) => `${type} ${blobOf(type, ...parts)} ada@laptop`;
const point = Buffer.from(publicKeys[1].base64, "base64").subarray(-65);
const offCurve = Buffer.from(point).fill(1, 1);
const x25519 = randomBytes(32);
const three = Buffer.from([3]);
const modulus = (bits: number) =>
  Buffer.concat([Buffer.from([0]), randomBytes(bits / 8 - 2), Buffer.from([255, 255])]).fill(0xff, 1, 2);

const incomplete = /^This key is not complete\./;
const notAKey = /^This is not a public SSH key\./;
const isPrivate = /^This is a private key: never show it to anybody\./;
const notTheLine = /^Paste the line from the key's type on/;
const otherFormat = /^This public key is in another format\./;
const privatePem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
const publicPem = generateKeyPairSync("ed25519").publicKey.export({ format: "pem", type: "spki" }).toString();

test.each<readonly [string, string, RegExp | string]>([
  ["nothing", " \n ", notAKey],
  ["a word", "hello", notAKey],
  ["a path", "~/.ssh/id_ed25519.pub", notAKey],
  ["a type without a key", "ssh-ed25519", incomplete],
  ["an unknown type", `ssh-ed448 ${ed.base64}`, notAKey],
  ["a key without its type", ed.base64, notAKey],
  ["DSA", line("ssh-dss", randomBytes(128)), /^DSA keys are too weak/],
  ["RSA of 1024 bits", shortRsaKey, /^This RSA key has 1024 bits and is too short: 2048 is the least\./],
  ["RSA of 2040 bits", line("ssh-rsa", three, modulus(2040)), /^This RSA key has 2040 bits/],
  [
    "RSA of 4104 bits",
    line("ssh-rsa", three, modulus(4104)),
    /^This RSA key has 4104 bits and is too long: 4096 is the most\./,
  ],
  ["RSA with an even exponent", line("ssh-rsa", Buffer.from([4]), modulus(2048)), unusableKey],
  ["RSA with the exponent 1", line("ssh-rsa", Buffer.from([1]), modulus(2048)), unusableKey],
  ["RSA with a negative number", line("ssh-rsa", three, modulus(2048).subarray(1)), incomplete],
  ["RSA with a longer form of a number", line("ssh-rsa", Buffer.from([0, 3]), modulus(2048)), incomplete],
  ["RSA without its modulus", line("ssh-rsa", three), incomplete],
  ["a cut key", `${ed.type} ${ed.base64.slice(0, 40)}`, incomplete],
  ["a cut long key", `${rsa.type} ${rsa.base64.slice(0, 200)}`, incomplete],
  ["a key with more behind it", line(ed.type, x25519, "more"), incomplete],
  ["a short key", line(ed.type, x25519.subarray(1)), incomplete],
  [
    "a part that is said to be longer than all",
    `${ed.type} ${Buffer.from("7fffffff", "hex").toString("base64")}`,
    incomplete,
  ],
  ["another type inside", `ssh-ed25519 ${publicKeys[1].base64}`, incomplete],
  ["no base64", `ssh-ed25519 ${ed.base64.slice(0, -3)}!!!`, incomplete],
  ["a point of another curve", line("ecdsa-sha2-nistp256", "nistp384", point), incomplete],
  [
    "a compressed point",
    line("ecdsa-sha2-nistp256", "nistp256", Buffer.from([2, ...point.subarray(1, 33)])),
    incomplete,
  ],
  ["a point that is on no curve", line("ecdsa-sha2-nistp256", "nistp256", offCurve), unusableKey],
  ["a security key of a web site", line("sk-ssh-ed25519@openssh.com", x25519, "https://example.com"), unusableKey],
  ["a security key without its application", line("sk-ssh-ed25519@openssh.com", x25519), incomplete],
  ["a certificate", `ssh-ed25519-cert-v01@openssh.com ${ed.base64}`, /^This is a certificate\./],
  ["options", `no-pty,command="ls" ${newPublicKey()}`, notTheLine],
  ["a line of known_hosts", `host.example ${newPublicKey()}`, notTheLine],
  ["two keys", `${newPublicKey()}\n${newPublicKey()}`, /^Paste one line with one key\./],
  ["a key that was broken into lines", newPublicKey().replace("AAAA", "AA\nAA"), /^Paste one line with one key\./],
  ["RFC 4716", `---- BEGIN SSH2 PUBLIC KEY ----\n${ed.base64}\n---- END SSH2 PUBLIC KEY ----`, otherFormat],
  ["a public key in PEM", publicPem, otherFormat],
  ["a private key in PEM", privatePem, isPrivate],
  ["an encrypted one", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB", isPrivate],
  ["one of OpenSSH", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA", isPrivate],
  ["one of OpenSSH without its first line", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU=\nAAAA", isPrivate],
  ["one of PuTTY", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none", isPrivate],
  ["one behind a public one", `${newPublicKey()}\n${privatePem}`, isPrivate],
])("%s is refused with a sentence that has nothing of it", (_, text, sentence) => {
  let message = "";
  try {
    readPublicKey(text);
  } catch (error) {
    message = (error as Error).message;
    expect(error).toMatchObject({ code: "invalid_request" });
  }
  expect(message).toMatch(sentence);
  for (const word of text.split(/\s+/)) if (word.length > 40) expect(message).not.toContain(word);
});

test("random and cut blobs end in a sentence, never in another error", () => {
  for (let at = 0; at < 500; at += 1) {
    const { type, base64 } = publicKeys[at % publicKeys.length] as (typeof publicKeys)[number];
    const blob = Buffer.from(base64, "base64");
    // Behind the type, whose change is another case.
    const place = type.length + 4 + ((at * 7919) % (blob.length - type.length - 4));
    blob[place] = (blob[place] ?? 0) ^ (1 << (at % 8));
    const text = `${type} ${(at % 3 === 0 ? blob.subarray(0, place) : blob).toString("base64")}`;
    try {
      expect(readPublicKey(text).line).toBe(text);
    } catch (error) {
      expect(error, text).toMatchObject({ code: "invalid_request" });
    }
  }
});
