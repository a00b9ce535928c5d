import type { Manifest } from "./manifest.ts";

/** A sentence for each home, and for each host, whose files are not all in a backup with homes. */
export function gapsOf({ homes = [], elsewhere = [] }: Manifest): readonly string[] {
  const missing = Map.groupBy(
    elsewhere.filter(({ bytes, why }) => bytes === null && why === undefined),
    ({ host }) => host,
  );
  return [
    ...homes
      .filter(({ unreadable }) => unreadable > 0)
      .map(({ home, unreadable }) => `${home}: ${unreadable} entries could not be read; run the backup as root.`),
    ...homes.flatMap(({ home, leftOut }) =>
      leftOut ? [`${home}: ${leftOut.count} entries are not in the backup, the first is ${leftOut.first}.`] : [],
    ),
    ...elsewhere.flatMap(({ host, home, why }) => (why ? [`${home} of ${host} is not in the backup: ${why}.`] : [])),
    ...[...missing].map(
      ([host, lost]) => `${host} does not answer: ${lost.length} of its homes are not in the backup.`,
    ),
  ];
}
