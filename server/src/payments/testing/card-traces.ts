import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** Card data typed into a payment dialog. Choose a CVV and a year that occur nowhere else. */
export interface TypedCard {
  /** Digits only. */
  readonly number: string;
  readonly cvv: string;
  /** "11" */
  readonly month: string;
  /** "2093" */
  readonly year: string;
}

/** Finds every occurrence of card data in the database, except the network and the last four digits. */
export async function tracesInDatabase(db: Db, cards: readonly TypedCard[]): Promise<readonly string[]> {
  const pattern = patternOf(cards);
  const { rows: tables } = await sql<{ schema: string; name: string; columns: { name: string; type: string }[] }>`
    select t.table_schema as schema, t.table_name as name,
      json_agg(json_build_object('name', c.column_name, 'type', c.data_type) order by c.ordinal_position) as columns
    from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
    where t.table_type = 'BASE TABLE' and t.table_schema not in ('pg_catalog', 'information_schema')
    group by 1, 2 order by 1, 2`.execute(db);
  const found: string[] = [];
  for (const { schema, name, columns } of tables) {
    const texts = columns.map(({ name: column, type }) =>
      type === "bytea" ? sql`encode(${sql.ref(column)}, 'escape')` : sql`${sql.ref(column)}::text`,
    );
    const { rows } = await sql<{ text: string }>`
      select left(text, 300) as text from (select concat_ws(E'\n', ${sql.join(texts)}) as text from ${sql.table(`${schema}.${name}`)}) r
      where text ~ ${pattern} limit 5`.execute(db);
    found.push(...rows.map(({ text }) => `${name}: ${text}`));
  }
  return found;
}

/** Returns the log lines with data of these cards. The process id is ignored. */
export function tracesInLog(log: string, cards: readonly TypedCard[]): readonly string[] {
  const pattern = new RegExp(patternOf(cards));
  return log.split("\n").filter((line) => pattern.test(line.replace(/"pid":\d+/g, "")));
}

/** A regular expression for both PostgreSQL and JavaScript. */
function patternOf(cards: readonly TypedCard[]): string {
  const parts = cards.flatMap(({ number, cvv, month, year }) => [
    `(?<![0-9])${spaced(number.slice(0, 8))}`,
    `${spaced(number.slice(-8))}(?![0-9])`,
    alone(cvv),
    alone(year),
    alone(`${month} ?/ ?(20)?${year.slice(2)}`),
  ]);
  return [...new Set(parts)].join("|");
}

/** Matches any grouping of the digits. */
function spaced(digits: string): string {
  return [...digits].join("[ -]?");
}

/** Not a part of a longer number, an id or a fraction. */
function alone(text: string): string {
  return `(?<![0-9A-Za-z.-])${text}(?![0-9A-Za-z])`;
}
