import type { Credit } from "@berth/contract";
import { creditsListed } from "@berth/contract/console/credits";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { userIdOf } from "./find-user.ts";

export interface CreditSummary {
  readonly id: string;
  readonly user_id: string;
  readonly email: string | null;
  readonly gpu_hours: number;
  readonly source: Credit["source"];
  readonly note: string;
  readonly granted_at: Date;
  readonly state: "open" | "used" | "revoked";
  readonly used_by_order: string | null;
}

/** Returns the open credits of all accounts, or every credit of one, newest first. Throws for no account. */
export async function listCredits(db: Db, who: string | undefined): Promise<readonly CreditSummary[]> {
  const userId = who === undefined ? null : await userIdOf(db, who);
  const { rows } = await sql<CreditSummary>`
    select c.*, u.email from (
      select id, user_id, gpu_hours, source, granted_at, used_by_order,
        coalesce(nullif(note, ''), (select b.reason from vouchers v join voucher_batches b on b.id = v.batch_id
          where v.credit_id = granted_credits.id), '') as note,
        case when used_by_order is not null then 'used' when revoked_at is not null then 'revoked' else 'open' end as state
      from granted_credits
      union all
      select id, user_id, gpu_hours, 'undelivered', granted_at, used_by_order, '',
        case when used_by_order is not null then 'used' else 'open' end
      from time_credits) c left join identity_user u on u.id = c.user_id
    where case when ${userId}::text is null then c.state = 'open' else c.user_id = ${userId} end
    order by c.granted_at desc, c.id limit ${creditsListed}`.execute(db);
  return rows;
}
