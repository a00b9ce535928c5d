import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import type { Environment } from "../environment.ts";
import { markHomeUsed } from "../homes/home-records.ts";
import { type Announce, timeText } from "../notice.ts";

/** From so many other owners with failing starts on, the host is the reason. */
const leastOthers = 2;
/** A longer start counts as failed for this comparison. */
const slowMinutes = 3;

/**
 * A condition on `environments` in an update: the owner, not the machine, keeps JupyterLab silent (G106). Its container
 * ran for at least half of its time, the machine was not at fault, and starts of several other owners do not fail there
 * while none succeeds.
 */
export const isSilent = sql<boolean>`(environments.fault_since is null
  and (environments.created_at is not null or exists (
    select from launch_stages where environment_id = environments.id and stage = 'started'
      and at <= environments.give_up_at - (environments.give_up_at - environments.requested_at) / 2))
  and not (
    (select count(distinct o.user_id) from environments o
      where o.host_id = environments.host_id and o.user_id <> environments.user_id and (
        (o.status = 'pending' and o.desired = 'running'
          and coalesce(o.down_since, o.first_attempt_at) <= now() - make_interval(mins => ${slowMinutes}))
        or (o.ended_reason in ('hardware', 'not_delivered') and o.terminated_at > environments.give_up_at - interval '10 minutes'))) >= ${leastOthers}
    and not exists (
      select from launch_stages s join environments o on o.id = s.environment_id
      where o.host_id = environments.host_id and s.stage = 'ready' and s.at > coalesce(environments.down_since, environments.requested_at))))`;

/** Serialises the ends of one account. */
export async function lockAccount(tx: Tx, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${userId}, 106))`.execute(tx);
}

/** Whether a silent launch of this account was refunded or is about to be: that happens once without a person. */
export async function wasSilenceRefunded(tx: Tx, { id, user_id }: Environment): Promise<boolean> {
  const { rows } = await sql`
    select from environments
    where user_id = ${user_id} and id <> ${id} and ended_reason = 'silent' limit 1`.execute(tx);
  return rows.length > 0;
}

/** Keeps a silent launch for its owner: all of its time and its files are theirs from now on. */
export async function keepLaunch(tx: Tx, row: Environment, bonusHours: number): Promise<void> {
  await markHomeUsed(tx, row);
  const seconds = (row.duration_hours + bonusHours) * 3600;
  await sql`
    update environments
    set created_at = now(), expires_at = now() + make_interval(secs => ${seconds})
    where id = ${row.id}`.execute(tx);
}

/** `bankedSeconds` is null where the clock runs on (G2). */
export async function announceSilent(
  tx: Tx,
  announce: Announce,
  row: Environment,
  bankedSeconds: number | null,
): Promise<void> {
  const { id, user_id: userId, subdomain, generation, created_at } = row;
  const money = created_at === null ? " We look at its payment and tell you by bell and mail what becomes of it." : "";
  await announce(tx, {
    userId,
    cause: `silent:${id}:${generation}`,
    title: `${subdomain} was stopped because JupyterLab did not answer`,
    body: `Its container ran for ten minutes and its machine is well, so something in its files keeps JupyterLab from starting. Your files are kept. ${timeText(bankedSeconds)} On its page you can start it without your settings.${money}`,
    link: `/environments/${id}`,
  });
}
