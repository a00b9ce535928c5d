import { readStorage, writeStorage } from "./storage.ts";

const key = "knownBrowser";

/**
 * Tells this browser from others at a sign-in, whose owner gets a mail of new ones (G427). Stays after a sign-out; it is no secret,
 * and signs nobody in.
 */
export function browserToken(): string {
  const kept = readStorage(key);
  if (kept) return kept;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const token = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  writeStorage(key, token);
  return token;
}
