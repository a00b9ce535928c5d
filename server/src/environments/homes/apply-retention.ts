import { sql } from "kysely";
import type { Db, RowOf, Tx } from "../../database/database.ts";
import { type Driver, DriverError } from "../../drivers/driver.ts";
import type { Logger } from "../../logging/create-logger.ts";
import { type Announce, instant } from "../notice.ts";
import { endBankedTime } from "../time/end-banked-time.ts";
import { type FormerHomeDeps, releaseFormerHomes } from "./release-former-homes.ts";

interface RetentionDeps extends FormerHomeDeps {
  readonly db: Db;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly announce: Announce;
  readonly log: Logger;
}

type Home = RowOf<"homes">;

/** The owner is notified a week before the deletion and again on the last day; after an outage one more day is kept. */
const [firstDays, lastDays, leastHours] = [7, 1, 24] as const;
const last = sql`make_interval(days => ${lastDays})`;
/** Null where an environment has the home: then nothing is due. */
const mustAnnounce = sql<boolean>`(delete_at <= now() + make_interval(days => ${firstDays})
  and (told_at is null or (delete_at <= now() + ${last} and told_at < delete_at - ${last})))`;

/**
 * Announces deletions that are due soon (P5, G31). Where a notice comes late, because the server was down, the files are
 * kept a day longer: `deleteLapsedHomes` deletes only what was announced.
 */
export async function announceDeletions({ db, announce }: Pick<RetentionDeps, "db" | "announce">): Promise<void> {
  const soon = await db.selectFrom("homes").selectAll().where(mustAnnounce).execute();
  for (const home of soon) await db.transaction().execute((tx) => announceDeletion(tx, home, announce));
}

async function announceDeletion(
  tx: Tx,
  { id, subdomain, user_id: userId, told_at, left_by }: Home,
  announce: Announce,
): Promise<void> {
  const least = told_at ? sql`now()` : sql`now() + make_interval(hours => ${leastHours})`;
  await sql`
    update subdomain_claims set retained_until = greatest(retained_until, ${least})
    where ${left_by === null}::boolean and name = ${subdomain} and user_id = ${userId} and order_id is null`.execute(
    tx,
  );
  const { rows } = await sql<{ delete_at: Date }>`
    update homes set told_at = now(), delete_at = greatest(delete_at, ${least})
    where id = ${id} and ${mustAnnounce} returning delete_at`.execute(tx);
  const end = rows[0]?.delete_at;
  if (!end) return;
  await announce(tx, {
    userId,
    cause: `home:${left_by === null ? subdomain : id}:${end.toISOString()}${told_at ? ":last" : ""}`,
    ...(left_by === null ? keptText(subdomain, end) : formerText(subdomain, end)),
  });
}

const keptText = (subdomain: string, end: Date) => ({
  title: `The files of ${subdomain} will be deleted`,
  body: `They are kept until ${instant(end)}. To keep them, launch an environment named ${subdomain} before then.`,
  link: `/environments/create?subdomain=${subdomain}`,
});

const formerText = (subdomain: string, end: Date) => ({
  title: `The former files of ${subdomain} will be deleted`,
  body: `They are those from before its fresh start, and are kept until ${instant(end)}. Download what you need before then.`,
  link: "/environments",
});

/** The holder of a name whose files are being deleted, by which a later pass finds it after a crash. */
export const deletionMarker = "deleting:";

/**
 * Ends banked time that was not used for a year (G113), gives files that a fresh start left their end (G203), announces deletions, deletes files whose retention is over (G31),
 * and measures those that are kept.
 */
export async function applyRetention(deps: RetentionDeps): Promise<void> {
  await endBankedTime(deps);
  await releaseFormerHomes(deps);
  await announceDeletions(deps);
  await deleteLapsedHomes(deps);
  await measureHomes(deps);
}

/**
 * The name is reserved first, so that nobody, the owner included, launches into a folder that is being deleted. The only
 * caller of `deleteHome` for a home that has an owner. One that cannot be deleted now stays due.
 */
export async function deleteLapsedHomes({ db, drivers, log }: Omit<RetentionDeps, "announce">): Promise<void> {
  const due = await sql<Home>`
    select * from homes where delete_at <= now() and told_at is not null and host_id = any(${[...drivers.keys()]})
      and ${staysHere}
    order by delete_at limit 100`.execute(db);
  for (const home of due.rows) {
    try {
      if (!(await db.transaction().execute((tx) => reserveLapsed(tx, home)))) continue;
      await drivers.get(home.host_id)?.deleteHome(home.home);
      await db.transaction().execute((tx) => deleteHomeRecord(tx, home));
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      log.warn({ event: "home.delete_failed", homeId: home.id, hostId: home.host_id, err: error });
    }
  }
  await sql`
    delete from subdomain_claims c where order_id is null and retained_until <= now()
      and not exists (select 1 from homes h where h.subdomain = c.name and h.user_id = c.user_id and h.left_by is null)`.execute(
    db,
  );
}

/** A home that moves to another host is deleted there (G196). */
const staysHere = sql<boolean>`not exists (select from home_moves where home_moves.id = homes.id)`;

/**
 * False when an environment has the home again, or it is elsewhere now. Names are locked before homes, as in a launch; files
 * that a fresh start left have none (G203).
 */
async function reserveLapsed(tx: Tx, { id, subdomain, user_id, home, host_id, left_by }: Home): Promise<boolean> {
  await sql`
    update subdomain_claims set order_id = ${deletionMarker} || name, held_until = now() + interval '1 hour'
    where ${left_by === null}::boolean and name = ${subdomain} and user_id = ${user_id}
      and ((order_id is null and retained_until <= now()) or order_id = ${deletionMarker} || name)`.execute(tx);
  const { rows } = await sql`
    select 1 from homes where id = ${id} and delete_at <= now() and home = ${home} and host_id = ${host_id}
      and ${staysHere} for update`.execute(tx);
  return rows.length === 1;
}

/** For an owner who does not wait for the end: from now on nobody launches into these files. */
export async function reserveForDeletion(tx: Tx, { subdomain, user_id }: Pick<Home, "subdomain" | "user_id">) {
  await sql`
    update subdomain_claims set retained_until = now(),
      held_until = case when order_id is null then now() + interval '1 hour' else held_until end,
      order_id = coalesce(order_id, ${deletionMarker} || name)
    where name = ${subdomain} and user_id = ${user_id} and retained_until is not null`.execute(tx);
}

async function deleteHomeRecord(tx: Tx, { id, subdomain, user_id, left_by }: Home): Promise<void> {
  await sql`
    delete from subdomain_claims
    where ${left_by === null}::boolean and name = ${subdomain} and user_id = ${user_id}
      and order_id = ${deletionMarker} || name`.execute(tx);
  await sql`delete from homes where id = ${id} and delete_at is not null`.execute(tx);
}

/** Only homes at rest: the size of a running one is sampled, and changes while it is measured. */
async function measureHomes({ db, drivers, log }: RetentionDeps): Promise<void> {
  const { rows } = await sql<Home>`
    select * from homes h where size_mb is null and host_id = any(${[...drivers.keys()]}) and (delete_at is null or delete_at > now())
      and not exists (select 1 from environments e
        where e.home = h.home and e.host_id = h.host_id and e.status not in ('stopped', 'terminated'))
    limit 100`.execute(db);
  for (const { id, host_id, home } of rows) {
    try {
      const sizeMb = (await drivers.get(host_id)?.homeMb(home)) ?? null;
      await sql`update homes set size_mb = ${sizeMb} 
        where id = ${id} and size_mb is null and home = ${home} and host_id = ${host_id}`.execute(db);
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      log.warn({ event: "home.measure_failed", homeId: id, hostId: host_id, err: error });
    }
  }
}
