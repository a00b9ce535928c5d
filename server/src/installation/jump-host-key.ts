import { createPrivateKey, createPublicKey, hkdfSync } from "node:crypto";

export interface JumpHostKey {
  /** In OpenSSH's own format, without a passphrase. */
  readonly privateKey: string;
  /** A line for known_hosts without the host: type and base64. */
  readonly publicKey: string;
}

const type = "ssh-ed25519";
/** Of an Ed25519 key in PKCS 8, before its 32 bytes (RFC 8410 7). */
const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * The key by which SSH clients know the jump host again (G405). Derived from the installation's secret: all gateways have the
 * same one, also after a restore, and none is stored.
 */
export function jumpHostKey(secret: Buffer): JumpHostKey {
  const seed = Buffer.from(hkdfSync("sha256", secret, "", "ssh jump host", 32));
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: "der", type: "pkcs8" });
  const point = Buffer.from(createPublicKey(key).export({ format: "jwk" }).x as string, "base64url");
  const publicBlob = Buffer.concat([text(type), text(point)]);
  return {
    privateKey: pem(publicBlob, [text(type), text(point), text(Buffer.concat([seed, point])), text("")]),
    publicKey: `${type} ${publicBlob.toString("base64")}`,
  };
}

/** PROTOCOL.key of OpenSSH. */
function pem(publicBlob: Buffer, secrets: readonly Buffer[]): string {
  const check = uint32(0);
  const inner = Buffer.concat([check, check, ...secrets]);
  const padding = Buffer.from(Array.from({ length: (8 - (inner.length % 8)) % 8 }, (_, index) => index + 1));
  const head = [Buffer.from("openssh-key-v1\0"), text("none"), text("none"), text(""), uint32(1), text(publicBlob)];
  const base64 = Buffer.concat([...head, text(Buffer.concat([inner, padding]))]).toString("base64");
  const label = "OPENSSH PRIVATE KEY";
  return `-----BEGIN ${label}-----\n${base64.replace(/.{70}/g, "$&\n")}\n-----END ${label}-----\n`;
}

/** A string as SSH writes it: its length, then its bytes. */
function text(value: string | Buffer): Buffer {
  return Buffer.concat([uint32(value.length), Buffer.from(value as string)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
