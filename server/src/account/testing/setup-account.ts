import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { testApp } from "../../testing/test-app.ts";

export const password = "good password 1";

type Product = Awaited<ReturnType<typeof testApp>>;

interface AccountSetup extends Product {
  readonly ada: Awaited<ReturnType<Product["signUp"]>>;
  readonly stopDelivery: ReturnType<Product["deliver"]>;
  readonly status: (environmentId: string) => Promise<string>;
  readonly remove: (password?: string) => ReturnType<Product["call"]>;
  readonly signIn: (password?: string) => ReturnType<Product["call"]>;
  /** How many rows of each table name this user. */
  readonly rowsOf: (userId: string) => Promise<Record<string, number>>;
}

/** The product with a signed-up user and a running reconciler. */
export async function setup(fake: Record<string, number> = {}): Promise<AccountSetup> {
  const product = await testApp({}, { fake });
  const stopDelivery = product.deliver();
  const ada = await product.signUp("Ada Lovelace");
  const status = async (id: string) =>
    (await product.db.selectFrom("environments").select("status").where("id", "=", id).executeTakeFirstOrThrow())
      .status;
  return {
    ...product,
    ada,
    stopDelivery,
    status,
    remove: (given = password) => product.call("DELETE", `/profile/${ada.id}`, ada.token, { password: given }),
    signIn: (given = password) =>
      product.call("POST", "/identity/v1/accounts:signInWithPassword?key=local", undefined, {
        email: ada.email,
        password: given,
        returnSecureToken: true,
      }),
    async rowsOf(userId: string) {
      const tables = await tablesOf(product.db);
      const counts: Record<string, number> = {};
      for (const name of tables) {
        const { rows } = await sql<{ n: number }>`
          select count(*) as n from ${sql.table(name)} r where r::text like ${`%${userId}%`}`.execute(product.db);
        counts[name] = rows[0]?.n ?? 0;
      }
      return counts;
    },
  };
}

export async function tablesOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'user_id' order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

/** Every table with a user id: where the export shows it, and whether it outlives the account. A new table needs an entry. */
export const tables: Readonly<Record<string, { readonly exported: string | null; readonly kept: boolean }>> = {
  identity_session: { exported: "sign_ins", kept: false },
  identity_code: { exported: null, kept: false },
  identity_second_factors: { exported: "flags", kept: false },
  identity_known_browsers: { exported: null, kept: false },
  identity_passkeys: { exported: "passkeys", kept: false },
  identity_recovery_codes: { exported: null, kept: false },
  identity_links: { exported: "linked_accounts", kept: false },
  identity_pending_sign_ins: { exported: null, kept: false },
  identity_trusted_browsers: { exported: null, kept: false },
  ssh_keys: { exported: "ssh_keys", kept: false },
  // Until a hosted identity provider has heard of the deletion.
  hosted_changes: { exported: null, kept: false },
  profiles: { exported: "profile", kept: false },
  user_flags: { exported: "flags", kept: false },
  queue_entries: { exported: "places_in_line", kept: false },
  notifications: { exported: "notifications", kept: false },
  mails: { exported: "mails", kept: false },
  ticket_answers: { exported: "ticket_answers", kept: false },
  support_tickets: { exported: "support_tickets", kept: false },
  homes: { exported: "files", kept: false },
  home_moves: { exported: null, kept: false },
  grants: { exported: "environment_sign_ins", kept: false },
  share_links: { exported: "share_links", kept: false },
  sign_in_codes: { exported: null, kept: false },
  archive_codes: { exported: null, kept: false },
  subdomain_claims: { exported: "files", kept: false },
  // The names are those of the environments.
  former_names: { exported: null, kept: false },
  orders: { exported: "orders", kept: true },
  payments: { exported: "payments", kept: true },
  credit_notes: { exported: "credit_notes", kept: true },
  receipts: { exported: "receipts", kept: true },
  disputes: { exported: "disputes", kept: true },
  refund_requests: { exported: "refund_requests", kept: false },
  account_warnings: { exported: "account_warnings", kept: false },
  account_suspensions: { exported: "account_suspensions", kept: false },
  account_holds: { exported: "account_holds", kept: true },
  time_credits: { exported: "time_credits", kept: true },
  granted_credits: { exported: "credits", kept: true },
  vouchers: { exported: "vouchers", kept: true },
  environments: { exported: "environments", kept: true },
  sessions: { exported: "sessions", kept: true },
  // As long as it is needed to decide the case, as the privacy page says.
  mining_findings: { exported: "mining_findings", kept: true },
  deleted_accounts: { exported: null, kept: true },
};

export function measurement<Used extends object>(environment_id: string, used: Used) {
  return { environment_id, span_seconds: 600 as const, at: new Date(), looks: 1, memory_mb: 90, ...used };
}
