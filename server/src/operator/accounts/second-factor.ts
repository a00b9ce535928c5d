import { hash, randomInt } from "node:crypto";
import { Secret, TOTP } from "otpauth";

/** A new secret of 160 bits, in base32. */
export function newFactorSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** The address that authenticator apps read from a QR code. */
export function factorUri(secret: string, issuer: string, email: string): string {
  return totpOf(secret, issuer, email).toString();
}

/** Returns the time step of a valid code of six digits: the current one, or a neighbour for a clock that is off. */
export function factorStep(secret: string, code: string, now = Date.now()): number | undefined {
  const totp = totpOf(secret);
  const delta = /^\d{6}$/.test(code) ? totp.validate({ token: code, timestamp: now, window: 1 }) : null;
  return delta === null ? undefined : totp.counter({ timestamp: now }) + delta;
}

function totpOf(secret: string, issuer = "", label = ""): TOTP {
  return new TOTP({ issuer, label, secret: Secret.fromBase32(secret) });
}

/** Without characters that look alike. */
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";

/** Ten codes such as `k7dq-mx3a-9wzp`, each for one sign-in without the authenticator app. */
export function newRecoveryCodes(): readonly string[] {
  const word = () => Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join("");
  return Array.from({ length: 10 }, () => `${word()}-${word()}-${word()}`);
}

/** 59 random bits need no slow hash. */
export function recoveryHash(code: string): Buffer {
  return hash("sha256", code.trim().toLowerCase(), "buffer");
}
