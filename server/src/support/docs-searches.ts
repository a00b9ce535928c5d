import { sql } from "kysely";
import type { Db } from "../database/database.ts";

/** So that a program cannot fill the table; words that are in it are counted on. */
const mostRows = 2000;

/**
 * Counts a search that found nothing. Kept are words alone: what looks like an address, a link or a number of somebody's is
 * dropped (G345).
 */
export async function countUnfound(db: Db, text: string): Promise<void> {
  const words = wordsOf(text);
  if (words === undefined) return;
  await sql`
    insert into docs_searches as kept (words)
    select ${words} where exists (select from docs_searches where words = ${words})
      or (select count(*) from docs_searches) < ${mostRows}
    on conflict (words) do update set count = least(kept.count + 1, 1000000), last_at = now()`.execute(db);
}

/** In small letters with single spaces; undefined for what may be personal, and for what has no letter. */
export function wordsOf(text: string): string | undefined {
  const words = text.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim();
  const isPlain = /^[\p{L}\p{M}\p{N} .,'+#?!_-]+$/u.test(words) && /\p{L}/u.test(words);
  return isPlain && !/\p{N}{4}|\p{N}[ .-]?\p{N}{3}/u.test(words) && words.length <= 64 ? words : undefined;
}

/** Words that nobody has looked for in ninety days are of no use to an operator. */
export async function purgeSearches(db: Db): Promise<void> {
  await sql`delete from docs_searches where last_at < now() - interval '90 days'`.execute(db);
}
