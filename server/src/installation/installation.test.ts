import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, test } from "vitest";
import { dataFolder, emptyDatabase, operatorKey, start } from "../testing/server-process.ts";

const modeOf = (...path: string[]) => statSync(join(...path)).mode & 0o777;

test.each([
  ["empty, as a full disk leaves it", ""],
  ["cut short", "0123456789abcdef"],
  ["of other letters", "g".repeat(64)],
])(
  "a secret that is %s is refused before anything is started",
  async (_, content) => {
    const folder = dataFolder();
    writeFileSync(join(folder, "secret"), content, { mode: 0o600 });
    const { said, ended } = start({ DATA_DIR: folder });
    expect([await ended, said.out, said.err]).toEqual([
      1,
      "",
      `${folder}/secret must hold 64 hexadecimal digits: restore it from a backup, or delete it to generate a new one; sign-ins and links of the old one end.\n`,
    ]);
  },
  60_000,
);

test("the data folder, its secret and its database become private", async () => {
  const folder = dataFolder();
  const secret = "0123456789abcdef".repeat(4);
  writeFileSync(join(folder, "secret"), secret);
  mkdirSync(join(folder, "database"));
  for (const path of ["secret", "database", "."]) chmodSync(join(folder, path), 0o755);
  const { url } = start({ DATA_DIR: folder });
  await url();
  expect([modeOf(folder) & 0o776, modeOf(folder, "secret"), modeOf(folder, "database")]).toEqual([0o700, 0o600, 0o700]);
  expect(readFileSync(join(folder, "secret"), "utf8")).toBe(secret);
}, 60_000);

test("a second server of a database needs the same secret, which is not stored (G115)", async () => {
  const { url: DATABASE_URL, connection } = await emptyDatabase();
  const [one, other] = [dataFolder(), dataFolder()];
  await start({ DATA_DIR: one, DATABASE_URL }).url();
  const { said, ended } = start({ DATA_DIR: other, DATABASE_URL });
  expect([await ended, said.out]).toEqual([1, ""]);
  expect(said.err).toMatch(
    /^The servers of this database have another secret: give this one their IDENTITY_SECRET \(or the file secret of their DATA_DIR\); [^\n]+\n$/,
  );
  const secret = readFileSync(join(one, "secret"), "utf8");
  await start({ DATA_DIR: other, DATABASE_URL, IDENTITY_SECRET: secret, ROLES: "gateway" }).url();
  // A browser that the one let in, the other lets in too.
  expect(operatorKey(other)).toBe(operatorKey(one));
  expect(modeOf(other, "operator-key")).toBe(0o600);
  expect(operatorKey(other)).not.toBe(secret);

  const client = new Client(connection);
  await client.connect();
  const { rows } = await client.query("select * from installation");
  await client.end();
  expect(rows).toMatchObject([{ secret_fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
  expect(JSON.stringify(rows)).not.toContain(secret);
}, 120_000);
