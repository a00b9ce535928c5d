import { isEmail } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { emailKey } from "../../identity/email-key.ts";
import { operatorCommand } from "../../text/operator-command.ts";
import { createLink } from "./operator-links.ts";

/** Adds an operator's account. Returns the code of the one-time link that sets it up. Throws for a known address. */
export async function addOperator(db: Db, email: string, author: Author): Promise<string> {
  if (!isEmail(email.trim())) throw new AppError("invalid_request", `${email} is not an email address`);
  return await db.transaction().execute(async (tx) => {
    const id = newId();
    const added = await tx
      .insertInto("operators")
      .values({ id, email: email.trim(), email_key: emailKey(email) })
      .onConflict((conflict) => conflict.column("email_key").doNothing())
      .executeTakeFirst();
    if (!added.numInsertedOrUpdatedRows)
      throw new AppError(
        "email_exists",
        `${email} is an operator already. A new link: ${operatorCommand(`operators reset ${email}`)}`,
      );
    const code = await createLink(tx, id);
    await recordAct(tx, author, "operator.add", email.trim());
    return code;
  });
}

/** Removes an account: its sign-ins end at once. Throws for an unknown address. */
export async function removeOperator(db: Db, email: string, author: Author): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const operator = await operatorForUpdate(tx, email);
    await tx.deleteFrom("operators").where("id", "=", operator.id).execute();
    await recordAct(tx, author, "operator.remove", operator.email);
  });
}

/**
 * Takes password, second factor, recovery codes, links and sign-ins away. Returns the code of a new one-time link. Throws
 * for an unknown address.
 */
export async function resetOperator(db: Db, email: string, author: Author): Promise<string> {
  return await db.transaction().execute(async (tx) => {
    const { id, email: address } = await operatorForUpdate(tx, email);
    for (const table of ["operator_sessions", "operator_links", "operator_recovery_codes"] as const)
      await tx.deleteFrom(table).where("operator_id", "=", id).execute();
    await tx
      .updateTable("operators")
      .set({ password_hash: null, factor_sealed: null, factor_step: null })
      .where("id", "=", id)
      .execute();
    const code = await createLink(tx, id);
    await recordAct(tx, author, "operator.reset", address);
    return code;
  });
}

export interface ListedOperator {
  readonly email: string;
  readonly state: "ready" | "link open" | "link expired";
  readonly second_factor: boolean;
  readonly created_at: Date;
  readonly seen_at: Date | null;
}

export async function listOperators(db: Db): Promise<readonly ListedOperator[]> {
  const { rows } = await sql<ListedOperator>`
    select email, factor_sealed is not null as second_factor, created_at,
      case when password_hash is not null then 'ready'
        when exists (select 1 from operator_links l where l.operator_id = o.id and used_at is null and expires_at > now()) then 'link open'
        else 'link expired' end as state,
      (select max(seen_at) from operator_sessions s where s.operator_id = o.id) as seen_at
    from operators o order by email_key`.execute(db);
  return rows;
}

async function operatorForUpdate(tx: Tx, email: string) {
  const operator = await tx
    .selectFrom("operators")
    .select(["id", "email"])
    .where("email_key", "=", emailKey(email))
    .forUpdate()
    .executeTakeFirst();
  if (!operator)
    throw new AppError("not_found", `There is no operator ${email}. ${operatorCommand("operators list")} names them.`);
  return operator;
}
