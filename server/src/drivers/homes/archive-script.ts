/**
 * A shell script that writes the files of a folder as tar.gz, by the rules of `packArchive`: a file that shrinks is filled
 * up, one that grows is cut, one that vanishes is left out. It ends with 0, or with 1 when files changed under it.
 */
export function archiveScript(folder: string): string {
  const list = "find . -mindepth 1 \\( -type f -o -type d -o -type l \\) -printf '%P\\0'";
  return `cd ${folder} && ${list} | ${tar}`;
}

/** The user that every environment runs as owns all that is downloaded. */
const tar = [
  // As long as `packLimits` says.
  "timeout 4h tar -c -f - --no-recursion --null --verbatim-files-from -T - --hard-dereference --ignore-failed-read",
  "--format=pax --owner=1000 --group=1000 --numeric-owner --mode=a-st --warning=no-file-changed -I 'gzip -1'",
].join(" ");
