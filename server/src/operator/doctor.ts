import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { brokenInvariants } from "../payments/invariants.ts";
import { listGpus } from "./gpus.ts";

interface Finding {
  readonly what: string;
  readonly rows: readonly string[];
}

/** Drained, away, or put aside; somebody has to bring it back or take it away. */
async function outOfService(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ text: string }>`
    select id || case when lost_at is not null then ' is lost' when drained_at is null then ' does not answer' else ' drains' end as text from hosts
    where not is_open and removed_at is null order by id`.execute(db);
  const aside = (await listGpus(db)).filter((line) => line.includes(": put aside "));
  return [...rows.map(({ text }) => text), ...aside];
}

const afterTries = 20;

/** What an operator must know about money (reliability.md 9): every broken promise, and what waits for a person. */
export async function examine(db: Db): Promise<readonly Finding[]> {
  const broken = await brokenInvariants(db);
  const { rows: failed } = await sql<{ id: string; text: string }>`
    select r.id, p.gateway_payment_id || ' ' || r.amount_minor || ' ' || r.currency || ' ' || r.reason || coalesce(': ' || r.last_error, '') as text
    from refunds r join payments p on p.id = r.payment_id
    where r.status = 'failed' or (r.status not in ('processed', 'waived') and r.attempts >= ${afterTries})`.execute(db);
  const { rows: untold } = await sql<{ id: string; text: string }>`
    select event_id as id, event || ': ' || coalesce(last_error, '') as text from gateway_events
    where processed_at is null and attempts >= ${afterTries}`.execute(db);
  const { rows: stuck } = await sql<{ id: string; text: string }>`
    select id, status || ': ' || coalesce(last_error, '') as text from orders
    where status in ('draft', 'open', 'paid', 'refunding') and attempts >= ${afterTries}`.execute(db);
  const { rows: disputed } = await sql<{ id: string; text: string }>`
    select d.gateway_dispute_id as id, p.gateway_payment_id || ' ' || d.amount_minor || ' ' || d.currency || ' ' || d.phase || ' ' || d.status
      || coalesce(', answer by ' || to_char(d.respond_by at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), '')
      || coalesce(', holds back a refund of ' || (select sum(r.amount_minor) from refunds r where r.payment_id = p.id and r.status = 'queued'), '') as text
    from disputes d join payments p on p.id = d.payment_id
    where d.status in ('open', 'under_review') order by d.respond_by`.execute(db);
  const { rows: held } = await sql<{ id: string; text: string }>`
    select h.user_id as id, 'lost ' || d.gateway_dispute_id || ': ' || d.lost_minor || ' ' || d.currency as text
    from account_holds h join disputes d on d.id = h.dispute_id where h.lifted_at is null order by h.held_at`.execute(
    db,
  );
  return [
    { what: "Broken promises", rows: broken.map(({ invariant, id, what }) => `${id} ${what} (${invariant})`) },
    { what: "Refunds that failed or do not go through", rows: failed.map(({ id, text }) => `${id} ${text}`) },
    { what: "Events that cannot be worked off", rows: untold.map(({ id, text }) => `${id} ${text}`) },
    { what: "Disputes to answer in the provider's dashboard", rows: disputed.map(({ id, text }) => `${id} ${text}`) },
    {
      what: "Accounts that may not order (operator -- unflag USER)",
      rows: held.map(({ id, text }) => `${id} ${text}`),
    },
    { what: "Hosts and GPUs that are out of service", rows: await outOfService(db) },
    { what: "Orders that cannot be asked about", rows: stuck.map(({ id, text }) => `${id} ${text}`) },
  ];
}
