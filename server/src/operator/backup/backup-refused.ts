/** A backup or a restore that is not done, or that failed. Nothing is changed. The message is for the operator. */
export class BackupRefused extends Error {}
