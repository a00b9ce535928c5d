import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { DriverError } from "../../drivers/driver.ts";
import { openLocalHomes } from "../../drivers/homes/local-homes.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { type Elsewhere, elsewhereEntries } from "./elsewhere-entries.ts";
import { gapsOf } from "./gaps-of.ts";
import type { Manifest } from "./manifest.ts";
import { temporaryFolder } from "./testing/setup-backup.ts";

const away: Elsewhere = {
  host: { id: "away" },
  driver: {
    countHome: () => Promise.reject(new DriverError("unavailable", "No Docker Engine answers")),
    homeMb: () => Promise.resolve(0),
    async *archive() {
      yield Buffer.from("its begin");
      throw new DriverError("unavailable", "No Docker Engine answers");
    },
  },
};

test("homes of other hosts are archives of a backup; those of a host that does not answer are named", async () => {
  const { db, close } = await testDatabase();
  onTestFinished(close);
  const [homes, folder] = [temporaryFolder(), temporaryFolder()];
  for (const [home, host] of [
    ["a", "gpu-1"],
    ["b", "gpu-1"],
    ["e", "gpu-1"],
    ["c", "away"],
    ["d", "away"],
  ] as const) {
    await sql`insert into hosts (id, kind) values (${host}, 'docker') on conflict do nothing`.execute(db);
    await sql`insert into homes (id, home, host_id, user_id, subdomain, used_at)
      values (${home}, ${home}, ${host}, 'ada', ${home}, now())`.execute(db);
    mkdirSync(join(homes, home), { recursive: true });
    writeFileSync(join(homes, home, "file"), `of ${home}`);
  }
  const local = await openLocalHomes(homes, silentLogger);
  truncateSync(join(homes, "e", "file"), 2 ** 42);
  const driver = { ...local, homeMb: local.sizeMb };
  const found: NonNullable<Manifest["elsewhere"]> = [];
  const contents: Record<string, string> = {};
  const deps = { db, folder, hosts: [{ host: { id: "gpu-1" }, driver }, away] };
  for await (const entry of elsewhereEntries(deps, (home) => void found.push(home)))
    if (entry.type === "File") {
      const input = await buffer(entry.bytes());
      expect(input).toHaveLength(entry.size);
      contents[entry.path] = execFileSync("tar", ["xzOf", "-"], { input, encoding: "utf8" });
    }
  expect(contents).toEqual({
    "restored/homes-elsewhere/gpu-1/a.tar.gz": "of a",
    "restored/homes-elsewhere/gpu-1/b.tar.gz": "of b",
  });
  expect(found.map(({ home, bytes }) => [home, bytes !== null])).toEqual([
    ["a", true],
    ["b", true],
    ["e", false],
    ["c", false],
    ["d", false],
  ]);
  expect(gapsOf({ elsewhere: found } as Manifest)).toEqual([
    "e of gpu-1 is not in the backup: its sparse files have 4398 GB, and 0 GB on the disk.",
    "away does not answer: 2 of its homes are not in the backup.",
  ]);
  expect(readdirSync(folder), "no temporary file stays").toEqual([]);
});
