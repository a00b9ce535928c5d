import { readPortLabel, subdomainProblem, texts } from "@berth/contract";
import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";
import { deletionMarker } from "../homes/apply-retention.ts";
import { holdGrace } from "../leases/gpu-leases.ts";

export interface NameRequest {
  readonly subdomain: string;
  readonly userId: string;
  readonly orderId: string;
  /** End of the unpaid hold. */
  readonly holdUntil: Date;
}

/**
 * Reserves a name for an order: a new one, one without kept files, one whose files are the user's own, or one whose unpaid
 * hold has lapsed (G31, G35). False when it is another user's, or was within a year (G301), and for a new name that is the address
 * of a port (G385). The row is the lock: one of two requests waits.
 */
export async function reserveName(
  tx: Tx,
  { subdomain: name, userId, orderId, holdUntil }: NameRequest,
): Promise<boolean> {
  await sql`delete from subdomain_claims where order_id = ${orderId} and name <> ${name}`.execute(tx);
  // First and on its own: the next statement then sees the former name that the end of an environment has written.
  await sql`select from subdomain_claims where name = ${name} for update`.execute(tx);
  const { rows } = await sql`
    insert into subdomain_claims as held (name, user_id, order_id, held_until)
    select ${name}, ${userId}, ${orderId}, ${holdUntil}::timestamptz where not exists (
      select from former_names f
      where f.name = ${name} and f.user_id is distinct from ${userId} and f.reserved_until > now())
      and (${readPortLabel(name) === undefined} or exists (select from subdomain_claims where name = ${name} and user_id = ${userId})
        or exists (select from former_names where name = ${name} and user_id = ${userId}))
    on conflict (name) do update
      set user_id = excluded.user_id, order_id = excluded.order_id, held_until = excluded.held_until,
          retained_until = case when held.user_id = excluded.user_id then held.retained_until end
      where (held.order_id = excluded.order_id and held.held_until is not null)
        or ((held.order_id is null or held.held_until < now() - ${holdGrace}::interval)
            and (held.user_id = excluded.user_id or held.retained_until is null or held.retained_until <= now()))
    returning name`.execute(tx);
  return rows.length === 1;
}

/** Releases the name of an order. While files of that name are kept, it stays its owner's. */
export async function releaseName(tx: Tx, orderId: string): Promise<void> {
  await sql`delete from subdomain_claims where order_id = ${orderId} and retained_until is null`.execute(tx);
  await sql`update subdomain_claims set order_id = null, held_until = null where order_id = ${orderId}`.execute(tx);
}

export interface NameAvailability {
  readonly available: boolean;
  readonly message: string;
  readonly suggestion: string | null;
}

/** The check while typing (G36). A hint: only `reserveName` decides. */
export async function checkName(db: Sql, name: string, userId: string): Promise<NameAvailability> {
  const problem = subdomainProblem(name);
  if (problem) return { available: false, message: problem, suggestion: null };
  const others = [name, ...suggestionsFor(name)];
  const states = await statesOf(db, others, userId);
  const state = states.get(name);
  if (readPortLabel(name) && (!state || state === "taken"))
    return { available: false, message: texts.subdomainPort, suggestion: null };
  if (state === "taken")
    return {
      available: false,
      message: texts.subdomainTaken,
      suggestion: others.find((other) => states.get(other) !== "taken") ?? null,
    };
  return { available: true, message: state ? messages[state] : "", suggestion: null };
}

const messages = {
  kept: "Your files of this name come back",
  // The same order is gone on with; another one cancels it.
  ordered: "Your unpaid order holds this name",
  former: "This name is yours from an earlier environment",
} as const;

/** What names that are not free are for this user: their own kept files, unpaid order or past has it, or it is taken. */
async function statesOf(
  db: Sql,
  names: readonly string[],
  userId: string,
): Promise<Map<string, "taken" | keyof typeof messages>> {
  const { rows } = await sql<{ name: string; state: "taken" | keyof typeof messages | null }>`
    select n.name, case
        when order_id is not null and held_until is null then 'taken'
        when starts_with(order_id, ${deletionMarker}) and held_until >= now() - ${holdGrace}::interval then 'taken'
        when c.user_id <> ${userId} and (held_until >= now() - ${holdGrace}::interval or retained_until > now()) then 'taken'
        when f.name is not null and f.user_id is distinct from ${userId} then 'taken'
        when c.user_id = ${userId} and retained_until > now() then 'kept'
        when c.user_id = ${userId} and held_until >= now() - ${holdGrace}::interval then 'ordered'
        when f.name is not null then 'former'
      end as state
    from unnest(${[...names]}::text[]) n(name) left join subdomain_claims c on c.name = n.name
      left join former_names f on f.name = n.name and f.reserved_until > now()`.execute(db);
  return new Map(rows.flatMap(({ name, state }) => (state ? [[name, state] as const] : [])));
}

function suggestionsFor(name: string): string[] {
  const stem = name.replace(/-\d{1,2}$/, "").slice(0, 37);
  return Array.from({ length: 20 }, (_, index) => `${stem}-${index + 2}`).filter(
    (other) => other !== name && subdomainProblem(other) === undefined,
  );
}
