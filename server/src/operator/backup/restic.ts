import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Config } from "../../config/config.ts";
import { BackupRefused } from "./backup-refused.ts";
import type { OpenArchive } from "./stage-backup.ts";
import { reportMs, type WriteArchive } from "./write-file.ts";

/** The name of the tar in a snapshot, and its tag. */
const [name, tag] = ["berth.tar", "berth"];

export interface Repository {
  readonly url: string;
  /** What restic is started with: its password and keys, and PATH. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The restic repository that a place names: s3://BUCKET/PATH, or s3:https://HOST/BUCKET/PATH; undefined for a file or folder. */
export function repositoryOf(place: string, { restic: variables }: Pick<Config, "restic">): Repository | undefined {
  if (!place.startsWith("s3:")) return undefined;
  const [repository = ""] = place.split("#");
  return { url: repository.replace(/^s3:\/\//, "s3:https://s3.amazonaws.com/"), variables };
}

/**
 * Writes a snapshot, which restic encrypts; the repository is made with the first one. Its place is REPOSITORY#SNAPSHOT.
 */
export function writeSnapshot(repository: Repository): WriteArchive {
  return async (tar, onBytes, signal) => {
    await output(repository, ["cat", "config"]).catch(() => output(repository, ["init"]));
    const args = ["backup", "--json", "--tag", tag, "--stdin", "--stdin-filename", name];
    const restic = start(repository, args);
    const printed = collect(restic);
    let bytes = 0;
    const timer = setInterval(() => onBytes(bytes), reportMs);
    try {
      for await (const chunk of tar) {
        signal?.throwIfAborted();
        bytes += chunk.length;
        if (!restic.stdin.write(chunk)) await Promise.race([once(restic.stdin, "drain"), printed]);
      }
    } catch (error) {
      // The end of its input would be the end of a backup.
      restic.kill("SIGKILL");
      await printed.catch(() => {});
      throw error;
    } finally {
      clearInterval(timer);
    }
    restic.stdin.end();
    const id = /"snapshot_id":"(\w+)"/.exec(await printed)?.[1];
    if (id === undefined) throw new BackupRefused(`restic wrote no snapshot in ${repository.url}.`);
    return { place: `${repository.url}#${id}`, bytes };
  };
}

/** Opens REPOSITORY#SNAPSHOT, or the last snapshot of a repository. */
export async function openSnapshot(place: string, repository: Repository): Promise<OpenArchive> {
  const wanted = place.split("#")[1] ?? "latest";
  const listed = await output(repository, ["snapshots", "--json", "--tag", tag, wanted]);
  const id = /"id":"(\w+)"/.exec(listed)?.[1];
  if (id === undefined) throw new BackupRefused(`There is no backup in ${repository.url}.`);
  return async () => dump(repository, id);
}

/** Forgets all but the newest snapshots of this product. */
export async function keepSnapshots(repository: Repository, keep: number): Promise<void> {
  await output(repository, ["forget", "--prune", "--tag", tag, "--group-by", "tags", "--keep-last", String(keep)]);
}

async function* dump(repository: Repository, id: string): AsyncGenerator<Uint8Array> {
  const restic = start(repository, ["dump", id, name]);
  restic.stdin.end();
  const ended = faultOf(restic);
  // Awaited below.
  ended.catch(() => {});
  try {
    yield* restic.stdout;
    await ended;
  } finally {
    restic.kill("SIGKILL");
    await ended.catch(() => {});
  }
}

type Restic = ChildProcessByStdio<Writable, Readable, Readable>;

function start({ url, variables }: Repository, args: readonly string[]): Restic {
  const restic = spawn("restic", ["--repo", url, ...args], { stdio: "pipe", env: variables });
  // A program that has ended does not read: its fault says why.
  restic.stdin.on("error", () => {});
  return restic;
}

/** What it prints. Throws BackupRefused with what it says. */
async function output(repository: Repository, args: readonly string[]): Promise<string> {
  const restic = start(repository, args);
  restic.stdin.end();
  return await collect(restic);
}

async function collect(restic: Restic): Promise<string> {
  const fault = faultOf(restic);
  // Awaited below.
  fault.catch(() => {});
  let text = "";
  for await (const chunk of restic.stdout) text = `${text}${chunk}`.slice(-1_048_576);
  await fault;
  return text;
}

async function faultOf(restic: Restic): Promise<void> {
  let text = "";
  restic.stderr.on("data", (chunk) => {
    text = `${text}${chunk}`.slice(-4_000);
  });
  const [code] = await once(restic, "close").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new BackupRefused("restic is needed on PATH for backups to s3: apt-get install restic.");
  });
  if (code === 0) return;
  const said = text
    .slice(Math.max(0, text.indexOf("Fatal:")))
    .split("\n")
    .filter(Boolean)
    .join(" ");
  throw new BackupRefused(`restic: ${said || `it ended with ${code}`}`);
}
