import { createHmac, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Config } from "../../config/config.ts";
import { BackupRefused } from "./backup-refused.ts";
import { secretName } from "./manifest.ts";

/** How a backup shows that this installation made it: by the installation's secret, or not at all where the operator says so. */
export type Trust = { readonly secret: string | undefined } | "foreign";

/** HMAC of a manifest without its signature. Whoever can write where backups lie does not have the key (G311). */
export function signatureOf(secret: string, manifest: object): string {
  const key = createHmac("sha256", secret.trim()).update("backup manifest v1").digest();
  return createHmac("sha256", key).update(JSON.stringify(manifest)).digest("hex");
}

const anyway = "If you know who made it and trust them with this machine's database, add --foreign.";

/** Throws BackupRefused for a manifest, as text, that this installation did not sign. */
export function checkSignature(text: string, trust: Trust): void {
  if (trust === "foreign") return;
  const { signature, ...signed } = JSON.parse(text) as Record<string, unknown>;
  if (signature === undefined)
    throw new BackupRefused(`The backup is not signed: an earlier version made it, or somebody else. ${anyway}`);
  if (trust.secret === undefined)
    throw new BackupRefused(
      `Whether this installation made the backup shows only with its secret: set IDENTITY_SECRET, or name a file that has it with --secret. ${anyway}`,
    );
  const [own, given] = [signatureOf(trust.secret, signed), String(signature)];
  if (own.length !== given.length || !timingSafeEqual(Buffer.from(own), Buffer.from(given)))
    throw new BackupRefused(
      `The backup is not signed with this secret: another installation made it, or somebody changed it. ${anyway}`,
    );
}

/**
 * The secret that backups are checked with: of a file, IDENTITY_SECRET, DATA_DIR, or as it is typed at a terminal. Throws
 * BackupRefused for a file that cannot be read.
 */
export async function trustOf(
  { secret, dataDir }: Pick<Config, "secret" | "dataDir">,
  { file, isForeign }: { readonly file: string | undefined; readonly isForeign: boolean },
): Promise<Trust> {
  if (isForeign) return "foreign";
  if (file !== undefined) return { secret: await secretIn(file) };
  const own = secret ?? (await readFile(join(resolve(dataDir), secretName), "utf8").catch(() => undefined));
  return { secret: own ?? (process.stdin.isTTY ? await typedSecret() : undefined) };
}

async function secretIn(file: string): Promise<string> {
  return await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new BackupRefused(`The secret in ${file} cannot be read (${error.code}).`);
  });
}

/** Without an echo. */
async function typedSecret(): Promise<string | undefined> {
  process.stderr.write("Secret of the installation that made the backup: ");
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  const typed = await terminal.question("").finally(() => terminal.close());
  process.stderr.write("\n");
  return typed.trim() || undefined;
}
