/** Whether a chunk of the app failed to load. Each browser has its own message; after an update the old chunks are gone. */
export function isChunkFailure(error: unknown): boolean {
  return (
    error instanceof Error &&
    /dynamically imported module|importing a module script failed|unable to preload/i.test(error.message)
  );
}
