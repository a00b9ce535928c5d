/** A backup or a restore that is not done, or that failed. Nothing is changed. The message is for the operator. */
export class BackupRefused extends Error {}

/** Of one lease there is one backup at a time; whoever waits may try again. */
export class AnotherBackupRuns extends BackupRefused {
  constructor() {
    super("Another backup runs: wait until it has ended.");
  }
}
