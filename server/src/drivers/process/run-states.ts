import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What must be known of a run after a restart of the server: one file per environment. */
export interface RunState {
  readonly id: string;
  readonly generation: number;
  readonly specHash: string;
  readonly image: string;
  readonly home: string;
  /** Where it is; absent in what an earlier version wrote. */
  readonly homePath?: string;
  readonly gpus: readonly string[];
  readonly createdAt: string;
  /** In the environment variables of every process of the run. */
  readonly mark: string;
  /** Its own folder, short and closed: the path of a Unix socket ends at 107 characters. */
  readonly socketFolder: string;
  /**
   * The run cannot change its socket's folder. Absent for runs of older servers, which could: such a run counts as
   * stopped, so that nothing connects to it and the next start ends it.
   */
  readonly socketOutside?: true;
  /** Absent between the writing of the intent and the start of the process. */
  readonly process?: { readonly pid: number; readonly startedAt: string };
}

export interface RunStates {
  folder(id: string): string;
  read(id: string): Promise<RunState | undefined>;
  write(state: RunState): Promise<void>;
  /** Written by the run itself when it ends; undefined while it has not. */
  readExit(id: string): Promise<number | undefined>;
  remove(id: string): Promise<void>;
  list(): Promise<RunState[]>;
}

export function runStates(directory: string): RunStates {
  const folder = (id: string) => join(directory, id);
  const read = async (id: string) => {
    const text = await readOrNothing(join(folder(id), "run.json"));
    // An empty file is what a power cut may leave of one just made: nothing of that run is alive.
    return text ? (JSON.parse(text) as RunState) : undefined;
  };
  return {
    folder,
    read,
    async write(state) {
      await mkdir(folder(state.id), { recursive: true, mode: 0o700 });
      const path = join(folder(state.id), "run.json");
      // Renamed into place: a crash while writing leaves the old file, never half of one.
      const draft = `${path}.${randomUUID()}`;
      await writeFile(draft, JSON.stringify(state), { mode: 0o600 });
      await rename(draft, path);
    },
    async readExit(id) {
      const text = await readOrNothing(join(folder(id), "exit"));
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

async function readOrNothing(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
