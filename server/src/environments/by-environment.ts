/** Rows as they are shown, by their environment; of each in the given order. */
export function byEnvironment<Row extends { readonly environment_id: string }, Shown>(
  rows: readonly Row[],
  shown: (row: Row) => Shown,
): ReadonlyMap<string, Shown[]> {
  const groups = Map.groupBy(rows, ({ environment_id }) => environment_id);
  return new Map([...groups].map(([id, ofOne]) => [id, ofOne.map(shown)]));
}
