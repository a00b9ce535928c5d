import { plural } from "@berth/contract";
import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { formatAmount } from "../../payments/ledger/format-amount.ts";
import { brokenInvariants } from "../../payments/ledger/invariants.ts";
import { formatDuration } from "../../text/format-duration.ts";
import { formatInstant } from "../../text/format-instant.ts";
import { operatorCommand } from "../../text/operator-command.ts";
import { gpuText, isOutOfService, readGpus } from "../capacity/quarantine-gpu.ts";
import type { Check } from "./run-checks.ts";

const afterTries = 20;

/** Checks of money and capacity: broken invariants, and work that needs a person. `askProvider` returns what is wrong with it. */
export function moneyChecks(db: Db, askProvider: () => Promise<readonly string[]> = async () => []): readonly Check[] {
  return [
    {
      kind: "broken_invariants",
      what: "Broken invariants",
      remedy: "keep this output and compare the orders with the provider's dashboard before you move any money",
      run: async () => (await brokenInvariants(db)).map(({ invariant, id, what }) => `${id} ${what} (${invariant})`),
    },
    {
      kind: "refunds_stuck",
      what: "Refunds that failed or are stuck",
      remedy: "check the payment, the balance and the keys in the provider's dashboard; the server keeps retrying",
      run: () => refunds(db),
    },
    {
      kind: "webhooks_stuck",
      what: "Webhook events that cannot be processed",
      remedy: "find the payment in the provider's dashboard; if it belongs to no order here, refund it there",
      run: () => lines(db, events),
    },
    {
      kind: "disputes_open",
      what: "Disputes to answer in the provider's dashboard",
      remedy: "answer there before the date",
      run: () => disputes(db),
    },
    {
      kind: "accounts_held",
      what: "Accounts that may not order",
      remedy: `${operatorCommand("unflag USER")}, when the matter is settled`,
      run: () => holds(db),
    },
    {
      kind: "capacity_out_of_service",
      what: "Hosts and GPUs that are out of service",
      remedy: `${operatorCommand("hosts undrain HOST")}, or gpus release GPU for one that is quarantined; a host that does not answer has to be started, and a node that is cordoned opened by what stands beside it`,
      run: () => outOfService(db),
    },
    {
      kind: "orders_stuck",
      what: "Orders that are stuck",
      remedy: "check the provider's keys and whether it is reachable from here; the server keeps retrying",
      run: () => lines(db, orders),
    },
    {
      kind: "provider_unreachable",
      what: "Payment provider that does not answer",
      remedy: "check its status page, and RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET; the server keeps asking by itself",
      run: async () => [...(await askProvider()), ...(await unansweredOrders(db))],
    },
  ];
}

async function lines(db: Db, query: RawBuilder<{ id: string; text: string }>): Promise<readonly string[]> {
  return (await query.execute(db)).rows.map(({ id, text }) => `${id} ${text}`);
}

const events = sql<{ id: string; text: string }>`
  select event_id as id, event || ': ' || coalesce(last_error, '') as text from gateway_events
  where processed_at is null and attempts >= ${afterTries} order by received_at`;

/** Out of retries, overdue for an hour, or not delivered ten minutes after every deadline. */
const orders = sql<{ id: string; text: string }>`
  select id, status || case
      when attempts >= ${afterTries} then ' after ' || attempts || ' tries'
      when status = 'paid' and deliver_by < now() - interval '20 minutes' then ' since ' || to_char(paid_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC and not delivered'
      else ' and not polled since ' || to_char(greatest(due_at, lease_expires_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC' end
    || coalesce(': ' || last_error, '') as text from orders
  where status in ('draft', 'open', 'paid', 'refunding')
    and (attempts >= ${afterTries} or greatest(due_at, lease_expires_at) < now() - interval '1 hour'
      or (status = 'paid' and deliver_by < now() - interval '20 minutes')) order by created_at`;

/** Tries of an order after which it is no chance; a reply sets them back to 0. */
const unansweredTries = 3;

/** Orders that the provider was asked about in vain. Nobody asks about those of other keys, which are due since long. */
async function unansweredOrders(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ count: number; last_error: string }>`
    select count(*) as count, last_error from orders
    where status in ('draft', 'open', 'paid', 'refunding') and attempts >= ${unansweredTries} and last_error is not null
      and due_at > now() - interval '1 hour'
    group by last_error order by count(*) desc`.execute(db);
  return rows.map(({ count, last_error }) => `${plural(count, "order")} could not be asked about: ${last_error}`);
}

interface StuckRefund {
  readonly id: string;
  readonly payment: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly reason: string;
  readonly status: string;
  readonly attempts: number;
  readonly age: number;
  readonly last_error: string | null;
}

/**
 * Refused, retried three times, or too long under way: an hour to the provider, ten days from there to the bank. A refund
 * that waits for an open dispute is not stuck.
 */
async function refunds(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<StuckRefund>`
    select r.id, p.gateway_payment_id as payment, r.amount_minor, r.currency, r.reason, r.status, r.attempts,
      extract(epoch from now() - r.created_at)::float8 as age, r.last_error
    from refunds r join payments p on p.id = r.payment_id
    where r.status = 'failed'
      or (r.status = 'queued' and (r.attempts >= 3 or r.created_at < now() - interval '1 hour')
        and not exists (select 1 from disputes d where d.payment_id = p.id and d.status in ('open', 'under_review')))
      or (r.status = 'sent' and (r.created_at < now() - interval '10 days' or (r.attempts >= ${afterTries} and r.last_error is not null)))
    order by r.created_at`.execute(db);
  return rows.map(({ id, payment, amount_minor, currency, reason, status, attempts, age, last_error }) => {
    const state = { failed: "failed", sent: "has not arrived" }[status] ?? "is not sent";
    const name = `${id} ${payment} ${formatAmount(amount_minor, currency)} ${reason}`;
    return `${name} ${state}, ${formatDuration(age)} old, ${attempts} tries${last_error ? `: ${last_error}` : ""}`;
  });
}

interface OpenDispute {
  readonly id: string;
  readonly payment: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly state: string;
  readonly respond_by: Date | null;
  readonly held_minor: number | null;
}

async function disputes(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<OpenDispute>`
    select d.gateway_dispute_id as id, p.gateway_payment_id as payment, d.amount_minor, d.currency,
      d.phase || ' ' || d.status as state, d.respond_by,
      (select sum(r.amount_minor) from refunds r where r.payment_id = p.id and r.status = 'queued') as held_minor
    from disputes d join payments p on p.id = d.payment_id
    where d.status in ('open', 'under_review') order by d.respond_by`.execute(db);
  return rows.map(({ id, payment, amount_minor, currency, state, respond_by, held_minor }) => {
    const by = respond_by ? `, answer by ${formatInstant(respond_by)} UTC` : "";
    const held = held_minor ? `, holds back a refund of ${formatAmount(held_minor, currency)}` : "";
    return `${id} ${payment} ${formatAmount(amount_minor, currency)} ${state}${by}${held}`;
  });
}

async function holds(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string; dispute: string; lost_minor: number; currency: string }>`
    select h.user_id as id, d.gateway_dispute_id as dispute, d.lost_minor, d.currency
    from account_holds h join disputes d on d.id = h.dispute_id where h.lifted_at is null order by h.held_at`.execute(
    db,
  );
  return rows.map(
    ({ id, dispute, lost_minor, currency }) => `${id} lost ${dispute}: ${formatAmount(lost_minor, currency)}`,
  );
}

/** Hosts that drain or do not answer, and what is quarantined or not offered: an operator restores or removes it. */
async function outOfService(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ text: string }>`
    select id || case when lost_at is not null then ' is lost' when drained_at is null then ' does not answer' else ' drains' end as text from hosts
    where not is_open and removed_at is null order by id`.execute(db);
  const units = (await readGpus(db)).filter(isOutOfService);
  const quarantined = units.filter(({ quarantine_reason }) => quarantine_reason !== "");
  const withheld = Object.values(
    Object.groupBy(units, ({ host_id, withheld_reason }) => `${host_id}: ${withheld_reason}`),
  );
  return [
    ...rows.map(({ text }) => text),
    ...quarantined.map(gpuText),
    ...withheld.flatMap((group = []) =>
      withheldText(group.filter(({ quarantine_reason }) => quarantine_reason === "")),
    ),
  ];
}

/** One line for all that a cordoned node withholds. */
function withheldText(units: Awaited<ReturnType<typeof readGpus>>): readonly string[] {
  const [first] = units;
  if (!first) return [];
  return [
    `${first.host_id} does not offer ${plural(units.length, first.kind === "cpu" ? "CPU slot" : "GPU")}: ${first.withheld_reason}`,
  ];
}
