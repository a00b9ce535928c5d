import { subdomainProblem, texts } from "@berth/contract";
import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";
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
 * hold has lapsed (G31, G35). False when it is another user's. The row is the lock: one of two requests waits.
 */
export async function reserveName(
  tx: Tx,
  { subdomain: name, userId, orderId, holdUntil }: NameRequest,
): Promise<boolean> {
  await sql`delete from subdomain_claims where order_id = ${orderId} and name <> ${name}`.execute(tx);
  const { rows } = await sql`
    insert into subdomain_claims as held (name, user_id, order_id, held_until)
    values (${name}, ${userId}, ${orderId}, ${holdUntil})
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
  const taken = await takenNames(db, others, userId);
  if (taken.get(name) === true)
    return {
      available: false,
      message: texts.subdomainTaken,
      suggestion: others.find((other) => taken.get(other) !== true) ?? null,
    };
  return { available: true, message: taken.has(name) ? "Your files of this name come back" : "", suggestion: null };
}

/** The names that have a row: true when it is taken for this user, false when their own kept files have it. */
async function takenNames(db: Sql, names: readonly string[], userId: string): Promise<Map<string, boolean>> {
  const { rows } = await sql<{ name: string; taken: boolean; kept: boolean }>`
    select name,
           (order_id is not null and (held_until is null or held_until >= now() - ${holdGrace}::interval))
             or (user_id <> ${userId} and retained_until > now()) as taken,
           user_id = ${userId} and retained_until > now() as kept
    from subdomain_claims where name = any(${[...names]})`.execute(db);
  return new Map(rows.filter(({ taken, kept }) => taken || kept).map(({ name, taken }) => [name, taken]));
}

function suggestionsFor(name: string): string[] {
  const stem = name.replace(/-\d{1,2}$/, "").slice(0, 37);
  return Array.from({ length: 20 }, (_, index) => `${stem}-${index + 2}`).filter(
    (other) => other !== name && subdomainProblem(other) === undefined,
  );
}
