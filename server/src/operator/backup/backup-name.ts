/** The name of a backup in a folder, which sorts by its time. */
export function backupName(at: Date): string {
  return `berth-${at.toISOString().replace(/\.\d+|[-:]/g, "")}.tar.gz`;
}

const named = /^berth-\d{8}T\d{6}Z\.tar\.gz$/;
const unfinished = /^berth-\d{8}T\d{6}Z\.tar\.gz\.partial$|^\.berth-backup-\w+$/;

export interface Listed {
  /** Whole ones, the newest first. */
  readonly backups: readonly string[];
  /** What a backup that was killed left behind. */
  readonly remains: readonly string[];
}

/** Sorts the names in a folder of backups; anything else is in neither list. */
export function listBackups(names: readonly string[]): Listed {
  const backups = names.filter((name) => named.test(name)).sort();
  return { backups: backups.reverse(), remains: names.filter((name) => unfinished.test(name)) };
}
