import { hash, randomInt } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { renderSVG } from "uqr";

/** A new secret of 160 bits, in base32. */
export function newFactorSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** The QR code that authenticator apps read, as a data URL. */
export function factorPicture(secret: string, issuer: string, email: string): string {
  const svg = renderSVG(totpOf(secret, issuer, email).toString(), { border: 2 });
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
}

/**
 * Returns the time step of a valid code of six digits, spaces or not: the current one, or a neighbour for a clock that is
 * off.
 */
export function factorStep(secret: string, code: string, now = Date.now()): number | undefined {
  const totp = totpOf(secret);
  const token = code.replaceAll(/\s/g, "");
  const delta = /^\d{6}$/.test(token) ? totp.validate({ token, timestamp: now, window: 1 }) : null;
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

/** 59 random bits need no slow hash. Spaces, missing dashes and capitals do not matter. */
export function recoveryHash(code: string): Buffer {
  const letters = code.toLowerCase().replaceAll(/[^a-z\d]/g, "");
  return hash("sha256", letters.match(/.{1,4}/g)?.join("-") ?? "", "buffer");
}
