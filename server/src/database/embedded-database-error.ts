/** The data folder is locked by another process or unusable. The message is for the operator. */
export class EmbeddedDatabaseError extends Error {}

export function inUse(directory: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The data folder ${directory} is in use by another running server. Stop it first, or set DATA_DIR to another folder.`,
  );
}
