import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A run's record on disk, one file per environment, which a restarted server reads. */
export interface RunState {
  readonly id: string;
  readonly generation: number;
  readonly specHash: string;
  readonly image: string;
  readonly home: string;
  /** The home's path; absent in the records of earlier versions. */
  readonly homePath?: string;
  readonly gpus: readonly string[];
  readonly createdAt: string;
  /** In the environment variables of every process of the run. */
  readonly mark: string;
  /** A short path, closed to others: the path of a Unix socket has at most 107 characters. */
  readonly socketFolder: string;
  /**
   * The run cannot change its socket's folder. Absent in the records of older versions, whose runs could: such a run counts
   * as stopped, so that nothing connects to it and the next start ends it.
   */
  readonly socketOutside?: true;
  /** Under bubblewrap. */
  readonly sandboxed?: true;
  /** Absent until the process has started. */
  readonly process?: { readonly pid: number; readonly startedAt: string };
}

export interface RunStates {
  folder(id: string): string;
  read(id: string): Promise<RunState | undefined>;
  write(state: RunState): Promise<void>;
  /** Written by the run's supervisor; undefined until the run has ended. */
  readExit(id: string): Promise<number | undefined>;
  remove(id: string): Promise<void>;
  list(): Promise<RunState[]>;
}

export function runStates(directory: string): RunStates {
  const folder = (id: string) => join(directory, id);
  const read = async (id: string) => {
    const text = await readIfExists(join(folder(id), "run.json"));
    // A power cut may leave an empty file; nothing of that run is alive.
    return text ? (JSON.parse(text) as RunState) : undefined;
  };
  return {
    folder,
    read,
    async write(state) {
      await mkdir(folder(state.id), { recursive: true, mode: 0o700 });
      const path = join(folder(state.id), "run.json");
      // Renamed into place: a crash during the write leaves the old file.
      const draft = `${path}.${randomUUID()}`;
      await writeFile(draft, JSON.stringify(state), { mode: 0o600 });
      await rename(draft, path);
    },
    async readExit(id) {
      const text = await readIfExists(join(folder(id), "exit"));
      return text?.trim() ? Number(text) : undefined;
    },
    async remove(id) {
      await rm(folder(id), { recursive: true, force: true });
    },
    async list() {
      const ids = await readdir(directory).catch(() => []);
      const states = await Promise.all(ids.map(read));
      return states.filter((state) => state !== undefined);
    },
  };
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** A copied or moved installation finds runs on its former folders, and leaves them alone (G111). */
export function usesOwnHome(pathOf: (home: string) => string, { home, homePath }: RunState): boolean {
  return homePath === undefined || homePath === pathOf(home);
}
