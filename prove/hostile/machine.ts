import { createHash } from "node:crypto";
import { chownSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { removeFolder, startProduct, temporaryFolder } from "../../testing/product.ts";
import type { Attack } from "./attack.ts";

const unknownUid = 12_345;

/** Attacks by another user of the machine, and on a half-written first start. */
export const machine: readonly Attack[] = [
  {
    name: "14 the database's socket folder, made before by another user",
    async run({ env }) {
      if (process.getuid?.() !== 0) return { tries: 0, successes: [] };
      const dataDir = temporaryFolder();
      const directory = join(dataDir, "database");
      const folder = join(tmpdir(), `berth-${createHash("sha256").update(directory).digest("hex").slice(0, 12)}`);
      mkdirSync(folder, { mode: 0o777 });
      chownSync(folder, unknownUid, unknownUid);
      const started = await startProduct({ dataDir, env }).catch(() => undefined);
      const theirs = socketFolders().filter((each) => ownerOf(each) === unknownUid);
      await started?.stop();
      rmSync(folder, { recursive: true, force: true });
      removeFolder(dataDir);
      return {
        tries: 1,
        successes: theirs.includes(folder) ? ["the database listens in a folder of another user"] : [],
      };
    },
  },
  {
    name: "15 keys that anybody can compute, from a secret that was never written",
    async run({ env }) {
      const secrets = ["", "abc", "0".repeat(63), "not hexadecimal ".repeat(4)];
      const successes: string[] = [];
      for (const secret of secrets) {
        const dataDir = temporaryFolder();
        writeFileSync(join(dataDir, "secret"), secret, { mode: 0o600 });
        const started = await startProduct({ dataDir, env }).catch(() => undefined);
        if (started) successes.push(`a secret of ${secret.length} characters is accepted`);
        await started?.stop();
        removeFolder(dataDir);
      }
      return { tries: secrets.length, successes };
    },
  },
];

function socketFolders(): readonly string[] {
  const paths = readFileSync("/proc/net/unix", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/)[7] ?? "");
  return [...new Set(paths.filter((path) => path.startsWith("/")).map(dirname))];
}

function ownerOf(folder: string): number | undefined {
  return lstatSync(folder, { throwIfNoEntry: false })?.uid;
}
