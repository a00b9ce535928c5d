import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
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
  vi.stubEnv("RESTIC_PASSWORD", "a password of the test");
  vi.stubEnv("RESTIC_CACHE_DIR", temporaryFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
  const repository = join(temporaryFolder(), "repository");
  const read = async (place: string) => {
    const open = await openSnapshot(place, repository);
    return (await buffer(await open())).toString();
  };
  return { repository, write: writeSnapshot(repository), read };
}

test("a place in an S3 is a repository, a path is not", () => {
  expect(repositoryOf("s3://bucket/path")).toBe("s3:https://s3.amazonaws.com/bucket/path");
  expect(repositoryOf("s3:https://s3.example/bucket#abc")).toBe("s3:https://s3.example/bucket");
  expect(repositoryOf("/srv/backups")).toBeUndefined();
});

test("without restic, one sentence says what to install", async () => {
  vi.stubEnv("PATH", temporaryFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(openSnapshot("s3:x", "s3:x")).rejects.toThrow(
    new BackupRefused("restic is needed on PATH for backups to s3: apt-get install restic."),
  );
  await expect(writeSnapshot("s3:x")(textOf("a"), ignore)).rejects.toThrow("restic is needed on PATH");
});

describe.skipIf(absent)(absent ? `restic, skipped because ${absent}` : "restic", () => {
  test("what is written is read again, the last or by its place, and the newest are kept", async () => {
    const { repository, write, read } = setup();
    const first = await write(textOf("one", " and more"), ignore);
    expect(first).toEqual({ place: expect.stringMatching(`^${repository}#\\w{8}`), bytes: 12 });
    await write(textOf("two"), ignore);
    expect(await read(repository)).toBe("two");
    expect(await read(first.place)).toBe("one and more");
    await keepSnapshots(repository, 1);
    await expect(read(first.place)).rejects.toThrow(BackupRefused);
    expect(await read(repository)).toBe("two");
  });

  test("a backup that fails on the way leaves no snapshot; another password opens nothing", async () => {
    const { repository, write, read } = setup();
    await write(textOf("whole"), ignore);
    const failing = async function* () {
      yield Buffer.from("a part");
      throw new Error("the disk is gone");
    };
    await expect(write(failing(), ignore)).rejects.toThrow("the disk is gone");
    expect(await read(repository)).toBe("whole");
    expect(readdirSync(join(repository, "snapshots"))).toHaveLength(1);
    vi.stubEnv("RESTIC_PASSWORD", "another password");
    await expect(read(repository)).rejects.toThrow(/^restic: .*wrong password/);
  });
});
