import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

export interface Seal {
  seal(text: string): Buffer;
  /** Undefined for what another secret sealed. */
  unseal(sealed: Buffer): string | undefined;
}

/** Encrypts with a key derived from the installation's secret, so that a copy of the database alone reveals nothing. */
export function sealOf(secret: Buffer, purpose: string): Seal {
  const key = Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));
  return {
    seal(text) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
    },
    unseal(sealed) {
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12));
      decipher.setAuthTag(sealed.subarray(-16));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString();
      } catch {
        return undefined;
      }
    },
  };
}
