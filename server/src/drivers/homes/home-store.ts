import { randomUUID } from "node:crypto";
import { type Driver, DriverError, type Spec } from "../driver.ts";

/** Homes as folders of one machine, one for each owner and subdomain (G31). */
export interface HomeStore {
  /** The path of a home, which may not exist yet. Throws `refused` for a name that could leave the folder. */
  path(home: string): string;
  /**
   * Makes the folder, open to its owner alone. Throws `no_home` when a home that was used is missing, and when the disk
   * with all of them is (G111).
   */
  make(spec: NewHome): Promise<void>;
  /** As `Driver.homeMb`. Throws `unavailable` after 8 s. */
  sizeMb(home: string): Promise<number>;
  /**
   * The last count, at most five minutes old; counting millions of files takes the disk minutes, so it runs in the
   * background. Throws `unavailable` after 2 s while there is no count yet.
   */
  recentMb(home: string): Promise<number>;
  /** As `Driver.archive`. */
  archive(home: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  readonly countHome: Driver["countHome"];
  readonly restore: Driver["restore"];
  /** The home is gone when this returns; its files are deleted in the background. absent: no-op. */
  remove(home: string): Promise<void>;
}

export type NewHome = Pick<Spec, "home" | "homeIsKept" | "limits">;

export function missingHome(home: string, folder: string): DriverError {
  return new DriverError("no_home", `The files of ${home} are not in ${folder}: is its disk mounted?`);
}

export function notEmpty(home: string): DriverError {
  return new DriverError("refused", `${home} has files already`);
}

/** Begins the name of a deleted home's folder until its files are gone. No home has such a name. */
export const deletedPrefix = ".deleted-";
export const newDeletedName = () => `${deletedPrefix}${randomUUID()}`;
