/**
 * A shell script that unpacks what `archiveScript` wrote into an empty folder. It reads pieces from stdin, each behind its
 * length in a line, up to a length of 0: connections that cannot be closed on one side alone carry no end otherwise.
 */
export function restoreScript(folder: string): string {
  const isEmpty = `[ -z "$(ls -A -I lost+found ${folder})" ]`;
  const pieces = 'while read -r length && [ "$length" -gt 0 ]; do head -c "$length" || break; done';
  const tar = `tar -x -z -f - -C ${folder} -p --no-same-owner --delay-directory-restore`;
  return `${isEmpty} || { echo ${notEmptyMark} >&2; exit 3; }; ${pieces} | ${tar}`;
}

/** Written to stderr where the folder has files already. */
export const notEmptyMark = "the home has files already";

/** The bytes in the form that `restoreScript` reads. */
export async function* inPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    if (piece.length === 0) continue;
    yield Buffer.from(`${piece.length}\n`);
    yield piece;
  }
  yield Buffer.from("0\n");
}
