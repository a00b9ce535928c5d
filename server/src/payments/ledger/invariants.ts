import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** An invariant about money, and the query for its violations: one row for each, with the row's id and the fault. */
interface Invariant {
  readonly name: string;
  readonly broken: RawBuilder<{ readonly id: string; readonly what: string }>;
}

const live = sql`('pending', 'active', 'paused', 'stopped', 'unknown')`;
/** Whether environment `e` runs without an extension that pays for it. */
const runsUnpaid = sql`e.status <> 'terminated' and e.desired <> 'terminated'
  and not exists (select 1 from orders x where x.extends = e.id and x.status = 'fulfilled')`;
/** Seconds that the orders of environment `e` paid for, without refunded ones. */
const paidTime = sql`(select coalesce(sum(b.hours), 0)::float8 * 3600 as seconds from orders b
  where (b.id = e.order_id or b.extends = e.id) and b.status = 'fulfilled')`;
/** Booked hours have two decimals. */
const roundedSeconds = 60;

/**
 * The invariants (docs/internals/money.md): they hold whenever no transaction is open. Tests, the operator's `doctor` and
 * the proofs run the same queries.
 */
export const invariants: readonly Invariant[] = [
  {
    name: "every journal entry sums to zero",
    broken: sql`select entry_id as id, currency || ' ' || sum(amount_minor) as what from journal_lines
      group by entry_id, currency having sum(amount_minor) <> 0`,
  },
  {
    name: "every captured payment is booked once",
    broken: sql`select p.id, p.status as what from payments p
      left join journal j on j.kind = 'capture' and j.source_id = p.id
      where (p.status = 'captured') <> (j.id is not null)`,
  },
  {
    name: "a paid order has one settling payment and one environment, or is refunded",
    broken: sql`select o.id, o.status as what from orders o
      left join payments p on p.order_id = o.id and p.settles_order
      left join environments e on e.order_id = o.id or e.id = o.extends
      where (o.paid_at is not null and o.gateway <> 'credit') <> (p.id is not null)
        or (o.status in ('paid', 'fulfilled') and e.id is null)
        or (o.status in ('refunding', 'refunded') and p.refund_minor < p.amount_minor
            and not exists (select 1 from refunds r where r.payment_id = p.id and r.status = 'failed'))`,
  },
  {
    name: "an order of 0 has credits that start environments by themselves, of its owner, and no time that they do not cover",
    broken: sql`select o.id, o.hours || ' h, ' || used.gpu_hours || ' GPU-hours' as what from orders o
      cross join lateral (
        select coalesce(sum(gpu_hours), 0) as gpu_hours, count(*) filter (where alone) as alone from granted_credits
        where used_by_order = o.id and user_id = o.user_id) used
      cross join lateral (select coalesce(sum(gpu_hours), 0) as gpu_hours from time_credits where used_by_order = o.id) owed
      where o.gateway = 'credit' and o.status in ('paid', 'fulfilled')
        and (used.alone = 0 or o.hours * o.gpu_count > used.gpu_hours + owed.gpu_hours + 0.01 * o.gpu_count)
        and not exists (select 1 from deleted_accounts where user_id = o.user_id)`,
  },
  {
    name: "a fully refunded environment does not run, except on the time of other orders",
    broken: sql`select o.id, e.status as what from orders o join environments e on e.order_id = o.id
      join payments p on p.order_id = o.id and p.settles_order
      where o.status in ('refunding', 'refunded') and p.refund_minor = p.amount_minor and ${runsUnpaid}`,
  },
  {
    name: "no environment has more time left than was paid for and not paid back",
    broken: sql`select e.id, round(rest.seconds - paid.seconds) || ' s too much' as what
      from environments e cross join lateral ${paidTime} paid
      cross join lateral (select coalesce(extract(epoch from e.expires_at - greatest(now(), e.clock_from))::float8, e.banked_seconds) as seconds) rest
      where e.created_at is not null and e.status <> 'terminated' and e.desired <> 'terminated'
        and rest.seconds > paid.seconds + ${roundedSeconds}`,
  },
  {
    name: "paid time that an operator's end took from an environment is paid back",
    broken: sql`select o.id, p.refund_minor || ' of ' || p.amount_minor || ' back, ' || round(rest.seconds) || ' of ' || round(paid.seconds) || ' s unused' as what
      from environments e join orders o on (o.id = e.order_id or o.extends = e.id) and o.status = 'fulfilled'
      join payments p on p.order_id = o.id and p.settles_order
      cross join lateral ${paidTime} paid
      cross join lateral (select coalesce(extract(epoch from e.expires_at - e.terminated_at)::float8, e.banked_seconds) - ${roundedSeconds} as seconds) rest
      where e.status = 'terminated' and e.ended_reason = 'operator' and e.created_at is not null and rest.seconds > 0
        and p.refund_minor < floor(p.amount_minor * least(1, rest.seconds / greatest(1, paid.seconds)))
        and not exists (select 1 from refunds r where r.payment_id = p.id and r.status = 'failed')`,
  },
  {
    name: "every duplicate payment is refunded",
    broken: sql`select p.id, 'surplus kept' as what from payments p
      where p.status = 'captured' and not p.settles_order and p.refund_minor < p.amount_minor
        and not exists (select 1 from refunds r where r.payment_id = p.id and r.status = 'failed')`,
  },
  {
    name: "prepaid money belongs to an existing environment",
    broken: sql`select l.order_id as id, l.currency || ' ' || -sum(l.amount_minor) as what from journal_lines l
      where l.account = 'prepaid'
        and not exists (select 1 from environments e 
                        join orders o on e.order_id = o.id or e.id = o.extends
                        where o.id = l.order_id and e.status in ${live})
        and not exists (select 1 from refunds r join payments p on p.id = r.payment_id
                        where p.order_id = l.order_id and r.status = 'failed')
      group by l.order_id, l.currency having sum(l.amount_minor) <> 0`,
  },
  {
    name: "refunds payable are the refunds under way",
    broken: sql`select coalesce(l.order_id, r.order_id) as id, coalesce(l.owed, 0) || ' booked, ' || coalesce(r.owed, 0) || ' under way' as what
      from (select order_id, -sum(amount_minor) as owed from journal_lines where account = 'refunds_payable' group by 1) l
      full join (select p.order_id, sum(r.amount_minor) as owed from refunds r join payments p on p.id = r.payment_id
                 where r.status in ('queued', 'sent') group by 1) r on r.order_id = l.order_id
      where coalesce(l.owed, 0) <> coalesce(r.owed, 0)`,
  },
  {
    name: "the provider's balance of an order is what was captured, less fees, refunds and lost disputes",
    broken: sql`select booked.order_id as id, booked.sum || ' booked, ' || books.sum as what
      from (select order_id, sum(amount_minor) as sum from journal_lines where account = 'gateway' group by 1) booked
      cross join lateral (
        select sum(p.amount_minor - coalesce(p.fee_minor, 0)
          - coalesce((select sum(amount_minor) from refunds where payment_id = p.id and status = 'processed'), 0)
          - coalesce((select sum(lost_minor) from disputes where payment_id = p.id), 0)) as sum
        from payments p where p.order_id = booked.order_id and p.status = 'captured') books
      where booked.sum <> books.sum`,
  },
  {
    name: "a payment's refunded sum is that of its refunds",
    broken: sql`select p.id, p.refund_minor || ' v ' || back.sum as what
      from payments p cross join lateral (
        select coalesce((select sum(amount_minor) from refunds where payment_id = p.id and status not in ('failed', 'waived')), 0)
          + coalesce((select sum(counted_minor) from disputes where payment_id = p.id), 0) as sum) back
      where p.refund_minor <> back.sum`,
  },
  {
    name: "a lost dispute is booked once, stops the account's orders and ends what was bought",
    broken: sql`select d.id, d.status || ' ' || d.lost_minor || ' booked ' || booked.sum as what
      from disputes d join payments p on p.id = d.payment_id join orders o on o.id = p.order_id
      cross join lateral (
        select coalesce(sum(l.amount_minor), 0) as sum from journal j join journal_lines l on l.entry_id = j.id
        where j.kind = 'dispute_lost' and j.source_id = d.id and l.account = 'disputes') booked
      left join account_holds h on h.dispute_id = d.id and h.user_id = d.user_id
      left join environments e on e.order_id = o.id
      where booked.sum <> d.lost_minor or (d.status = 'lost' and h.user_id is null)
        or (d.status = 'lost' and p.settles_order and ${runsUnpaid})`,
  },
  {
    name: "no more is waived than a bank has taken",
    broken: sql`select p.id, w.sum || ' waived' as what from payments p
      join (select r.payment_id, sum(-l.amount_minor) as sum from journal j
            join refunds r on r.id = split_part(j.source_id, ':', 1)
            join journal_lines l on l.entry_id = j.id and l.account = 'disputes'
            where j.kind = 'refund_waived' group by 1) w on w.payment_id = p.id
      where w.sum > coalesce((select sum(lost_minor) from disputes where payment_id = p.id), 0)`,
  },
  {
    name: "every captured payment has a receipt, every processed refund a credit note",
    broken: sql`select p.id, 'no receipt' as what from payments p
      where p.status = 'captured' and not exists (select 1 from receipts where payment_id = p.id)
      union all select r.id, 'no credit note' from refunds r
      where (r.status = 'processed' or exists (select 1 from journal where kind = 'refund_arrived' and source_id = r.id))
        <> exists (select 1 from credit_notes where refund_id = r.id)`,
  },
  {
    name: "tax serials have no gap",
    broken: sql`select s.series || ' ' || s.year as id, used.count || ' of ' || s.next_no - 1 as what from invoice_series s
      cross join lateral (select count(*) as count from (
        select tax_no from receipts where tax_series = s.series and tax_year = s.year
        union select tax_no from credit_notes where tax_series = s.series and tax_year = s.year) numbers
        where tax_no between 1 and s.next_no - 1) used
      where used.count <> s.next_no - 1`,
  },
  {
    name: "every GPU lease has a valid holder, and the GPUs of one holder are on one host",
    broken: sql`select l.holder_id as id, l.holder_kind || ' holds ' || count(*) as what from gpu_leases l
      join gpus g on g.id = l.gpu_id
      left join environments e on l.holder_kind = 'environment' and e.id = l.holder_id
      left join orders o on l.holder_kind = 'order' and o.id = l.holder_id
      left join queue_entries q on l.holder_kind = 'queue' and q.id = l.holder_id
      left join warm_runs w on l.holder_kind = 'pool' and w.id = l.holder_id
      where l.released_at is null
      group by l.holder_kind, l.holder_id, e.id, o.id, q.id, w.id
      having count(distinct g.host_id) > 1
        or (l.holder_kind = 'environment' and (e.id is null or e.status = 'terminated' or count(*) <> e.gpu_count))
        or (l.holder_kind = 'order' and (o.id is null or count(*) <> o.gpu_count))
        or (l.holder_kind = 'queue' and (q.id is null or q.status <> 'held' or count(*) <> q.gpu_count))
        or (l.holder_kind = 'pool' and w.id is null)`,
  },
  {
    name: "a warm run has its GPUs, leased by the pool or by the order that has taken it",
    broken: sql`select w.id, count(l.id) || ' of ' || cardinality(w.gpus) as what from warm_runs w
      left join gpu_leases l on l.gpu_id = any(w.gpus) and l.released_at is null
        and ((l.holder_kind = 'pool' and l.holder_id = w.id) or (l.holder_kind = 'order' and l.holder_id = w.order_id))
      where w.state <> 'ending' group by w.id having count(l.id) <> cardinality(w.gpus)`,
  },
  {
    name: "a reservation of the queue holds all of its GPUs",
    broken: sql`select q.id, count(l.id) || ' of ' || q.gpu_count as what from queue_entries q
      left join gpu_leases l on l.holder_kind = 'queue' and l.holder_id = q.id and l.released_at is null
      where q.status = 'held' group by q.id having count(l.id) <> q.gpu_count`,
  },
  {
    name: "an undelivered order earns a credit, unless one was open",
    broken: sql`select p.order_id as id, 'no credit' as what from refunds r join payments p on p.id = r.payment_id
      where r.reason = 'not_delivered' and not exists (
        select 1 from time_credits where user_id = p.user_id and granted_at <= r.created_at)`,
  },
  {
    name: "what comes back of an order's credits is a new credit of its owner",
    broken: sql`select o.id, used.sum || ' taken, ' || back.sum || ' back' as what from orders o
      cross join lateral (select sum(returned_hours) as sum from granted_credits where used_by_order = o.id) used
      cross join lateral (select coalesce(sum(gpu_hours), 0) as sum from granted_credits where from_order = o.id and user_id = o.user_id) back
      where used.sum <> back.sum and not exists (select 1 from deleted_accounts where user_id = o.user_id)`,
  },
  {
    name: "an unfinished order is due",
    broken: sql`select id, status as what from orders
      where due_at is null and gateway_order_id is not null
        and (status in ('open', 'paid', 'refunding') or now() < watch_until)`,
  },
];

export interface Broken {
  readonly invariant: string;
  readonly id: string;
  readonly what: string;
}

/** Returns all violations, read in one snapshot. */
export async function brokenInvariants(db: Db): Promise<readonly Broken[]> {
  return db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (tx) => {
      const found: Broken[] = [];
      for (const { name, broken } of invariants)
        for (const row of (await broken.execute(tx)).rows) found.push({ invariant: name, id: row.id, what: row.what });
      return found;
    });
}
