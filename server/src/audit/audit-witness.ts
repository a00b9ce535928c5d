import { createHmac } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChainLink } from "./read-audit.ts";

/** What is known of the audit outside of the database: who owns that alone cannot change it (G312). */
export interface AuditWitness {
  /** The seal of a look at the chain. */
  sealOf(link: ChainLink): Buffer;
  /** The newest act that was seen, of a file beside the data; undefined where there is none. */
  lastSeen(): ChainLink | undefined;
  see(link: ChainLink): void;
}

/** Of an installation, by its secret and the file `audit-head` of its data folder. */
export function auditWitness(dataDir: string, secret: string | Buffer): AuditWitness {
  const key = createHmac("sha256", secret.toString().trim()).update("audit seal v1").digest();
  const file = join(dataDir, "audit-head");
  return {
    sealOf: ({ id, hash }) => createHmac("sha256", key).update(`${id} `).update(hash).digest(),
    lastSeen: () => linkIn(file),
    see({ id, hash }) {
      const text = `${id} ${hash.toString("hex")}\n`;
      const fresh = `${file}.${process.pid}`;
      writeFileSync(fresh, text, { mode: 0o600 });
      renameSync(fresh, file);
    },
  };
}

function linkIn(file: string): ChainLink | undefined {
  try {
    const [, id, hash = ""] = /^(\d+) ([0-9a-f]{64})\n$/.exec(readFileSync(file, "utf8")) ?? [];
    return id === undefined ? undefined : { id: Number(id), hash: Buffer.from(hash, "hex") };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
