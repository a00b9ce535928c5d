import { batch } from "../async/batch.ts";
import type { Db } from "../database/database.ts";
import { type ListedEnvironment, listEnvironments } from "../environments/environment.ts";
import type { User } from "../http/request-user.ts";
import { type Profile, readProfiles } from "../identity/profiles.ts";
import { accountUsageOf, type Usage } from "./account-usage.ts";
import { type PaymentRow, paymentsOf } from "./payments-of.ts";

interface Account {
  readonly profile: Profile;
  readonly environments: readonly ListedEnvironment[];
  readonly payments: readonly PaymentRow[];
  readonly usage: Usage;
}

const unused: Usage = { average_session_seconds: null, gpu_percent: null, run_hours: 0 };

/** Reads accounts, batched: concurrent calls share one set of queries. */
export function accountReader(db: Db): (user: User) => Promise<Account> {
  return batch(async (users: readonly User[]) => {
    const ids = [...new Set(users.map(({ id }) => id))];
    const [profiles, environments, payments, usage] = await Promise.all([
      readProfiles(db, ids),
      listEnvironments(db, ids),
      paymentsOf(db, ids),
      accountUsageOf(db, ids),
    ]);
    const [environmentsOf, paidBy] = [byUser(environments), byUser(payments)];
    return users.map(({ id, name, email }) => ({
      profile: profiles.get(id) ?? { name, email, phone: "" },
      environments: environmentsOf.get(id) ?? [],
      payments: paidBy.get(id) ?? [],
      usage: usage.get(id) ?? unused,
    }));
  });
}

function byUser<Row extends { readonly user_id: string }>(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  return Map.groupBy(rows, ({ user_id }) => user_id);
}
