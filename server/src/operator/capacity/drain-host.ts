import { plural } from "@berth/contract";
import { sql } from "kysely";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db, Tx } from "../../database/database.ts";
import type { ClusterOptions } from "../../database/json-columns.ts";
import { labelText } from "../../drivers/kubernetes/added-cluster.ts";
import { hostForUpdate } from "../../environments/hosts/register-host.ts";
import { cancelMoves } from "../../environments/moves/request-moves.ts";
import type { Announce } from "../../environments/notice.ts";
import { formatInstant } from "../../text/format-instant.ts";
import { operatorCommand } from "../../text/operator-command.ts";
import { sentence } from "../../text/sentence.ts";
import { CapacityRefused } from "./capacity-refused.ts";

interface HostRow {
  readonly id: string;
  readonly kind: string;
  readonly address: string | null;
  /** Of an added cluster. */
  readonly options: ClusterOptions | null;
  readonly drained_at: Date | null;
  readonly away_since: Date | null;
  readonly lost_at: Date | null;
  /** GPUs, or CPU slots on a host without any. */
  readonly unit: "gpu" | "cpu";
  readonly gpus: number;
  readonly leased: number;
  readonly quarantined: number;
  /** What the host has and does not offer now, and why, as far as it is known. */
  readonly withheld: number;
  readonly withheld_reason: string;
  readonly environments: number;
  /** Folders of files that lie on it, of ended environments too. */
  readonly homes: number;
  /** Since when its files move to other hosts, as soon as nothing runs on them. */
  readonly moving_since: Date | null;
  /** Why a move that failed will be tried again. */
  readonly move_error: string | null;
}

/** Returns every host: what it has, and what is in use. */
export async function readHosts(db: Db): Promise<readonly HostRow[]> {
  const { rows } = await sql<HostRow>`
    select h.id, h.kind, h.address, h.options, h.drained_at, h.away_since, h.lost_at, h.moving_since, count(g.id) as gpus, count(l.id) as leased,
      case when bool_and(g.kind = 'cpu') then 'cpu' else 'gpu' end as unit, count(*) filter (where g.quarantine_reason <> '') as quarantined,
      count(*) filter (where g.quarantined_at is not null and g.quarantine_reason = '') as withheld,
      coalesce(string_agg(distinct nullif(g.withheld_reason, ''), '; '), '') as withheld_reason,
      (select count(*) from environments e where e.host_id = h.id and e.status <> 'terminated') as environments,
      (select count(*) from homes where host_id = h.id) as homes,
      (select last_error from home_moves where from_host = h.id and last_error is not null order by id limit 1) as move_error
    from hosts h left join gpus g on g.host_id = h.id
    left join gpu_leases l on l.gpu_id = g.id and l.released_at is null and l.holder_kind <> 'pool'
    where h.removed_at is null group by h.id order by h.id`.execute(db);
  return rows;
}

export function hostText({
  id,
  kind,
  address,
  options,
  unit,
  gpus,
  leased,
  quarantined,
  environments,
  ...more
}: HostRow): string {
  const { drained_at, away_since, lost_at, moving_since, homes, move_error, withheld, withheld_reason } = more;
  const parts = [
    plural(gpus, unit === "gpu" ? "GPU" : "CPU slot"),
    ...[`${leased} leased`, `${quarantined} quarantined`, plural(environments, "environment")],
  ];
  if (withheld > 0) parts.push(`${withheld} not offered: ${withheld_reason || "no room for them now"}`);
  if (drained_at && !lost_at) parts.push(`draining since ${formatInstant(drained_at)} UTC`);
  if (moving_since && !lost_at) parts.push(`${plural(homes, "home")} left to move`);
  if (move_error && !lost_at) parts.push(`a move is tried again: ${move_error}`);
  if (lost_at) parts.push(`lost since ${formatInstant(lost_at)} UTC`);
  else if (away_since) parts.push(`not answering since ${formatInstant(away_since)} UTC`);
  const labels = labelText(options?.nodeSelector ?? {});
  return `${id} ${kind}${address ? ` at ${address}` : ""}${labels && ` on ${labels}`}: ${parts.join(", ")}`;
}

interface Draining {
  /** Files move to other hosts as soon as nothing runs on them. */
  readonly moves?: boolean;
}

/**
 * Drains a host: nothing new is leased on it, not to the queue either; existing leases go on. A host that drains already
 * begins or stops to move its files. Notifies the owners once and returns how many; undefined when it drained so already.
 * Throws for an unknown host, and where no other host takes what is to move.
 */
export async function drainHost(
  db: Db,
  announce: Announce,
  hostId: string,
  author: Author,
  { moves = false }: Draining = {},
): Promise<number | undefined> {
  return await db.transaction().execute(async (tx) => {
    const host = await hostForUpdate(tx, hostId);
    if (!host) throw noHost(hostId);
    if (host.drained_at && (host.moving_since !== null) === moves) return undefined;
    await setMoving(tx, hostId, moves);
    const owners = host.drained_at ? 0 : await closeHost(tx, announce, hostId, moves, author);
    const act = moves ? "host.move" : host.drained_at ? "host.stop_moving" : "host.drain";
    await recordAct(tx, author, act, hostId, { owners });
    return owners;
  });
}

/** Returns how many owners were notified. */
async function closeHost(
  tx: Tx,
  announce: Announce,
  hostId: string,
  moves: boolean,
  { reason }: Author,
): Promise<number> {
  const { drained_at } = await tx
    .updateTable("hosts")
    .set({ drained_at: sql<Date>`now()` })
    .where("id", "=", hostId)
    .returning("drained_at")
    .executeTakeFirstOrThrow();
  const owners = await ownersOn(tx, hostId);
  for (const { user_id: userId, names } of owners)
    await announce(tx, {
      userId,
      cause: drainCause(hostId, drained_at),
      title: "A machine of yours takes no new environments",
      body: `${sentence(reason || "It is being serviced or taken out of service")} On it: ${names}. ${moves ? moveText : stayText}`,
      link: "/environments",
    });
  return owners.length;
}

const drainCause = (hostId: string, drainedAt: Date | null) => `drain:${hostId}:${drainedAt?.toISOString()}` as const;

/** Who has environments on a host, with their names. */
async function ownersOn(tx: Tx, hostId: string): Promise<readonly { user_id: string; names: string }[]> {
  const { rows } = await sql<{ user_id: string; names: string }>`
    select user_id, string_agg(subdomain, ', ' order by subdomain) as names from environments
    where host_id = ${hostId} and status <> 'terminated' and desired <> 'terminated'
    group by user_id order by user_id`.execute(tx);
  return rows;
}

/** Returns how many owners were notified. */
async function takeBackNotice(tx: Tx, announce: Announce, hostId: string, drainedAt: Date): Promise<number> {
  const cause = drainCause(hostId, drainedAt);
  const notified = await tx.selectFrom("notifications").select("user_id").where("cause", "=", cause).execute();
  const owners = (await ownersOn(tx, hostId)).filter((each) =>
    notified.some(({ user_id }) => user_id === each.user_id),
  );
  for (const { user_id: userId, names } of owners)
    await announce(tx, {
      userId,
      cause: `${cause}:over`,
      title: "Your machine takes environments again",
      body: `The machine of ${names} is back in service. There is nothing that you need to do.`,
      link: "/environments",
    });
  return owners.length;
}

const stayText =
  "What runs goes on until its time is over. What is stopped keeps its files and its time, and cannot be started there until the machine is back, which you are told. Until then you can download the files.";
const moveText =
  "What runs goes on until its time is over. What is stopped moves to another machine with all its files, and is started there as always: its name and its address stay.";

/** The worker's next pass begins with what is at rest, and deletes what it has copied of a move that is taken back. */
async function setMoving(tx: Tx, hostId: string, moves: boolean): Promise<void> {
  if (!moves) await cancelMoves(tx, hostId);
  const others = tx.selectFrom("hosts").select("id").where("is_open", "=", true).where("id", "<>", hostId);
  if (moves && !(await others.executeTakeFirst()))
    throw new CapacityRefused(`No other host takes environments, so nothing can move: add one first`);
  await tx
    .updateTable("hosts")
    .set({ moving_since: moves ? sql<Date>`now()` : null })
    .where("id", "=", hostId)
    .execute();
}

/**
 * Returns false when it did not drain. Owners who were notified of that and still have environments there are told that it is
 * over. Throws for an unknown or decommissioned host.
 */
export async function undrainHost(db: Db, announce: Announce, hostId: string, author: Author): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    const host = await hostForUpdate(tx, hostId);
    if (!host || host.removed_at) throw noHost(hostId);
    if (host.lost_at) throw new CapacityRefused(`${hostId} is lost`);
    if (!host.drained_at) return false;
    await setMoving(tx, hostId, false);
    await tx.updateTable("hosts").set({ drained_at: null }).where("id", "=", hostId).execute();
    const owners = await takeBackNotice(tx, announce, hostId, host.drained_at);
    await recordAct(tx, author, "host.undrain", hostId, { owners });
    return true;
  });
}

const noHost = (id: string) =>
  new CapacityRefused(`There is no host ${id}. ${operatorCommand("hosts list")} names them.`);
