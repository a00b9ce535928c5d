import { type RawBuilder, sql } from "kysely";
import type { Db } from "../database/database.ts";

/** Gauges that one query fills. */
export interface DatabaseSource {
  readonly labels: readonly string[];
  /** By the column of their value. A null has no sample. */
  readonly gauges: Readonly<Record<string, { readonly name: string; readonly help: string }>>;
  /** A select with a text column for each label, and the columns of the values. Every part of it uses an index. */
  readonly rows: RawBuilder<unknown>;
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads all sources in one statement, so that their figures are of one moment. */
export async function readSources(db: Db, sources: readonly DatabaseSource[]): Promise<readonly Sample[]> {
  if (sources.length === 0) return [];
  const parts = sources.map(
    ({ rows }, index) => sql`select ${index}::int as source, to_jsonb(r) as row from (${rows}) r`,
  );
  const { rows } = await sql<{ source: number; row: Readonly<Record<string, unknown>> }>`
    ${sql.join(parts, sql` union all `)}`.execute(db);
  return rows.flatMap(({ source, row }) => {
    const { labels, gauges } = sources[source] as DatabaseSource;
    const values = Object.fromEntries(labels.map((label) => [label, String(row[label])]));
    return Object.entries(gauges).flatMap(([column, { name }]) =>
      typeof row[column] === "number" ? [{ name, labels: values, value: row[column] }] : [],
    );
  });
}
