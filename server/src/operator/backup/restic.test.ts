import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../config/config.ts";
import { BackupRefused } from "./backup-refused.ts";
import { keepSnapshots, openSnapshot, repositoryOf, writeSnapshot } from "./restic.ts";
import { temporaryFolder } from "./testing/setup-backup.ts";

const absent = await promisify(execFile)("restic", ["version"]).then(
  () => undefined,
  () => "there is no restic: apt-get install restic",
);
const ignore = () => {};

async function* textOf(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

/** A repository in a folder; in an S3 it is the same to restic. */
function setup() {
  const url = join(temporaryFolder(), "repository");
  const RESTIC_CACHE_DIR = temporaryFolder();
  const repositoryWith = (RESTIC_PASSWORD: string) => {
    const { restic: variables } = readConfig({ PATH: process.env["PATH"], RESTIC_PASSWORD, RESTIC_CACHE_DIR });
    return { url, variables };
  };
  const repository = repositoryWith("a password of the test");
  const read = async (place: string, from = repository) => {
    const open = await openSnapshot(place, from);
    return (await buffer(await open())).toString();
  };
  return { url, repository, repositoryWith, write: writeSnapshot(repository), read };
}

test("a place in an S3 is a repository, a path is not", () => {
  const { restic } = readConfig({ AWS_ACCESS_KEY_ID: "key", RESTIC_PASSWORD: "word", IDENTITY_SECRET: "s".repeat(32) });
  expect(restic).toEqual({ AWS_ACCESS_KEY_ID: "key", RESTIC_PASSWORD: "word" });
  const url = (place: string) => repositoryOf(place, { restic })?.url;
  expect(url("s3://bucket/path")).toBe("s3:https://s3.amazonaws.com/bucket/path");
  expect(url("s3:https://s3.example/bucket#abc")).toBe("s3:https://s3.example/bucket");
  expect(url("/var/lib/berth-backups")).toBeUndefined();
});

test("without restic, one sentence says what to install", async () => {
  const repository = { url: "s3:x", variables: { PATH: temporaryFolder() } };
  await expect(openSnapshot("s3:x", repository)).rejects.toThrow(
    new BackupRefused("restic is needed on PATH for backups to s3: apt-get install restic."),
  );
  await expect(writeSnapshot(repository)(textOf("a"), ignore)).rejects.toThrow("restic is needed on PATH");
});

describe.skipIf(absent)(absent ? `restic, skipped because ${absent}` : "restic", () => {
  test("what is written is read again, the last or by its place, and the newest are kept", async () => {
    const { url, repository, write, read } = setup();
    const first = await write(textOf("one", " and more"), ignore);
    expect(first).toEqual({ place: expect.stringMatching(`^${url}#\\w{8}`), bytes: 12 });
    await write(textOf("two"), ignore);
    expect(await read(url)).toBe("two");
    expect(await read(first.place)).toBe("one and more");
    await keepSnapshots(repository, 1);
    await expect(read(first.place)).rejects.toThrow(BackupRefused);
    expect(await read(url)).toBe("two");
  });

  test("a backup that fails on the way leaves no snapshot; another password opens nothing", async () => {
    const { url, repositoryWith, write, read } = setup();
    await write(textOf("whole"), ignore);
    const failing = async function* () {
      yield Buffer.from("a part");
      throw new Error("the disk is gone");
    };
    await expect(write(failing(), ignore)).rejects.toThrow("the disk is gone");
    expect(await read(url)).toBe("whole");
    expect(readdirSync(join(url, "snapshots"))).toHaveLength(1);
    await expect(read(url, repositoryWith("another password"))).rejects.toThrow(/^restic: .*wrong password/);
  });
});
