import { type RawBuilder, sql } from "kysely";

/** How far a home `h` has moved to another host, in percent; null while it stays. Never 100: it is counted again there. */
export const homeMovePercent: RawBuilder<number | null> = sql`(
  select case when m.total_bytes = 0 then 0 else least(99, m.copied_bytes * 100 / m.total_bytes)::int end
  from home_moves m where m.id = h.id and m.moved_at is null and m.cancelled_at is null)`;

/** The same for the home of an environment `e`. */
export const movePercent: RawBuilder<number | null> = sql`(
  select ${homeMovePercent} from homes h where e.status = 'stopped' and h.home = e.home and h.host_id = e.host_id)`;

/** The refusal of a start meanwhile. */
export function movingText(subdomain: string, percent: number): string {
  return `The files of ${subdomain} are moving to another machine, ${percent} % so far. Start it when they are there: its name and address stay`;
}
