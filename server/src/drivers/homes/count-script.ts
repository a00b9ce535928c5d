import { DriverError, type HomeCount } from "../driver.ts";

/**
 * A shell script that prints how many entries a folder has and the bytes of its files, by the rules of `archiveScript`. It
 * ends with 2 where something cannot be read. A volume of a cluster has a `lost+found`, which is no file of its owner's.
 */
export function countScript(folder: string): string {
  const kinds = "\\( -type f -o -type d -o -type l \\)";
  const list = `find . -mindepth 1 -path ./lost+found -prune -o ${kinds} -printf '%y %s\\n'`;
  const sum = "case $kind in x) exit 2;; f) bytes=$((bytes+size));; esac; entries=$((entries+1))";
  const loop = `entries=0; bytes=0; while read -r kind size; do ${sum}; done; echo "$entries $bytes"`;
  return `cd ${folder} && { ${list} || echo x; } | { ${loop}; }`;
}

/** What `countScript` prints. */
export function parseCount(output: string): HomeCount {
  const [, entries, bytes] = /^(\d+) (\d+)$/m.exec(output) ?? [];
  if (bytes === undefined) throw new DriverError("unavailable", `files could not be counted: ${output.slice(0, 200)}`);
  return { entries: Number(entries), bytes: Number(bytes) };
}
