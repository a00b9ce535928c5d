import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../config/config.ts";

/** Reads a secret of 64 hexadecimal digits from a file of mode 0600 in the data folder; generates it once, atomically. */
export function keptSecret(dataDir: string, name: string): string {
  const file = join(dataDir, name);
  if (!existsSync(file)) make(dataDir, file);
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  const text = readFileSync(file, "utf8").trim();
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new ConfigError(
    `${file} must hold 64 hexadecimal digits: restore it from a backup, or delete it to generate a new one; sign-ins and links of the old one end.`,
  );
}

/** Keeps this value in the file, instead of another one. */
export function writeSecret(dataDir: string, name: string, value: string): void {
  const file = join(dataDir, name);
  if (existsSync(file) && readFileSync(file, "utf8") === value) return;
  const fresh = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  writeFileSync(fresh, value, { mode: 0o600 });
  renameSync(fresh, file);
}

/** Atomic and durable: a power failure leaves the whole file or none; of concurrent processes one wins. */
function make(dataDir: string, file: string): void {
  const fresh = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const written = openSync(fresh, "wx", 0o600);
  writeSync(written, randomBytes(32).toString("hex"));
  fsyncSync(written);
  closeSync(written);
  try {
    linkSync(fresh, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(fresh);
  }
  const folder = openSync(dataDir, "r");
  fsyncSync(folder);
  closeSync(folder);
}
