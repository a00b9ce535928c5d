import type { Overview } from "@berth/contract/console/overview";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { isOpen } from "../messages/read-tickets.ts";
import { readFindings } from "../rentals/mining-findings.ts";
import type { LatestDiagnosis } from "./background-diagnosis.ts";
import { readDay, readSoldOutSince } from "./read-day.ts";
import { readLatest } from "./read-latest.ts";

/** What an operator looks at in the morning; amounts in minor units, the day in UTC. */
export async function readOverview(db: Db, doctor: LatestDiagnosis): Promise<Omit<Overview, "status">> {
  const [waiting, places, launches, revenue, day, latest] = await Promise.all([
    readWaiting(db),
    readPlaces(db),
    readLaunches(db),
    readRevenue(db),
    readDay(db),
    readLatest(db),
  ]);
  return { doctor: found(doctor), waiting, ...places, launches, revenue, day, latest };
}

function found({ checkedAt, running, diagnosis: { notes, findings } }: LatestDiagnosis): Overview["doctor"] {
  return {
    checked_at: checkedAt?.toISOString() ?? null,
    running,
    notes: [...notes],
    findings: findings
      .filter(({ rows }) => rows.length > 0)
      .map((finding) => ({ ...finding, rows: [...finding.rows] })),
  };
}

async function readWaiting(db: Db): Promise<Overview["waiting"]> {
  const [counts, refunds, findings] = await Promise.all([
    sql<{ refund_requests: number; disputes: number; tickets: number }>`
      select (select count(*)::int from refund_requests where status = 'open') as refund_requests,
        (select count(*)::int from disputes where status in ('open', 'under_review')) as disputes,
        (select count(*)::int from support_tickets t where ${isOpen}) as tickets`.execute(db),
    sql<{ currency: string; count: number; minor: number }>`
      select currency, count(*)::int as count, sum(amount_minor)::bigint as minor from refunds
      where status in ('queued', 'sent', 'failed') group by currency order by currency`.execute(db),
    readFindings(db),
  ]);
  const { refund_requests = 0, disputes = 0, tickets = 0 } = counts.rows[0] ?? {};
  return { refund_requests, disputes, tickets, mining: findings.length, refunds: refunds.rows };
}

interface PlacesRow
  extends Readonly<
    Record<
      | "open"
      | "closed"
      | "total"
      | "free"
      | "leased"
      | "quarantined"
      | "not_offered"
      | "active"
      | "pending"
      | "waiting",
      number
    >
  > {
  readonly since: Date | null;
}

type Places = Pick<Overview, "hosts" | "gpus" | "environments" | "queue">;

async function readPlaces(db: Db): Promise<Places> {
  const { rows } = await sql<PlacesRow>`
    select (select count(*)::int from hosts where is_open and removed_at is null) as open,
      (select count(*)::int from hosts where not is_open and removed_at is null) as closed,
      g.*, e.*, q.*
    from (select count(*)::int as total, count(l.id)::int as leased,
        (count(*) filter (where quarantine_reason <> '' or withheld_reason <> ''))::int as quarantined,
        (count(*) filter (where quarantined_at is not null and quarantine_reason = '' and withheld_reason = ''))::int
          as not_offered,
        (count(*) filter (where l.id is null and quarantined_at is null and h.is_open))::int as free
      from gpus join hosts h on h.id = host_id and h.removed_at is null
      left join gpu_leases l on l.gpu_id = gpus.id and l.released_at is null and l.holder_kind <> 'pool') g,
      (select (count(*) filter (where status = 'active'))::int as active,
        (count(*) filter (where status = 'pending'))::int as pending
      from environments where status in ('active', 'pending')) e,
      (select count(*)::int as waiting, min(asked_at) as since from queue_entries where status = 'waiting') q`.execute(
    db,
  );
  const [row] = rows;
  if (!row) throw new Error("A query of counts has no row");
  const { open, closed, total, free, leased, quarantined, not_offered, active, pending, waiting, since } = row;
  const soldOutSince = free === 0 && leased > 0 ? await readSoldOutSince(db) : null;
  return {
    hosts: { open, closed },
    gpus: { total, free, leased, quarantined, not_offered, sold_out_since: soldOutSince },
    environments: { active, pending },
    queue: { waiting, since: since?.toISOString() ?? null },
  };
}

async function readLaunches(db: Db): Promise<Overview["launches"]> {
  const { rows } = await sql<Overview["launches"]>`
    select count(*)::int as count, percentile_cont(0.5) within group (order by ready_ms) as p50_ms,
      percentile_cont(0.95) within group (order by ready_ms) as p95_ms
    from launch_times where ready_at > now() - interval '1 day'`.execute(db);
  return rows[0] ?? { count: 0, p50_ms: null, p95_ms: null };
}

async function readRevenue(db: Db): Promise<Overview["revenue"]> {
  const { rows } = await sql<{ since: Date; amounts: Overview["revenue"]["amounts"] }>`
    with day as (select date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' as since),
    moved as (
      select currency, amount_minor as paid, 0 as refunded from payments, day
      where status = 'captured' and captured_at >= since
      union all
      select currency, 0, amount_minor from refunds, day where status = 'processed' and processed_at >= since)
    select since, coalesce((select json_agg(json_build_object('currency', currency, 'paid_minor', paid, 'refunded_minor', refunded) order by currency)
      from (select currency, sum(paid)::bigint as paid, sum(refunded)::bigint as refunded from moved group by currency) m), '[]') as amounts
    from day`.execute(db);
  const { since = new Date(), amounts = [] } = rows[0] ?? {};
  return { since: since.toISOString(), amounts };
}
