import { createHash, randomBytes } from "node:crypto";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Tables } from "../../database/tables.ts";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";

export interface Row {
  readonly id: string;
  readonly subdomain: string;
  readonly userId: string;
  readonly secret: string;
  readonly runToken: string;
}

export type Fields = Partial<
  Pick<Tables["environments"], "subdomain" | "user_id" | "stage" | "expires_at" | "ended_reason" | "stop_reason">
> & {
  readonly status?: EnvironmentRoute["status"];
  readonly desired?: EnvironmentRoute["desired"];
  readonly port?: number;
  readonly banked?: number;
};

/** A row in any state, with the order behind it; it answers at `port` of loopback. */
export async function insertEnvironment(db: Db, fields: Fields): Promise<Row> {
  const subdomain = fields.subdomain ?? `n-${newId().slice(0, 12)}`;
  const row: Row = { id: newId(), subdomain, userId: fields.user_id ?? "owner", secret: newId(), runToken: newId() };
  const { status = "active" } = fields;
  const order = newId();
  const soon = new Date(Date.now() + 3_600_000);
  await db
    .insertInto("orders")
    .values({
      id: order,
      user_id: row.userId,
      status: "expired",
      container_type: "jupyter",
      subdomain,
      gpu_count: 1,
      duration_hours: 1,
      usd_minor: 20,
      amount_minor: 20,
      currency: "USD",
      inr_paise_per_usd: 8822,
      gateway: "embedded",
      mode: "embedded",
      request_hash: "",
      hold_until: soon,
      watch_until: soon,
    })
    .execute();
  await db
    .insertInto("environments")
    .values({
      id: row.id,
      order_id: order,
      user_id: row.userId,
      container_type: "jupyter",
      subdomain,
      gpu_count: 1,
      duration_hours: 1,
      host_id: "local",
      home: subdomain,
      status,
      desired: fields.desired ?? (status === "terminated" ? "terminated" : "running"),
      secret: row.secret,
      run_token: fields.port === undefined ? null : row.runToken,
      endpoint: fields.port === undefined ? null : JSON.stringify({ host: "127.0.0.1", port: fields.port }),
      stage: fields.stage ?? null,
      stop_reason: fields.stop_reason ?? null,
      give_up_at: soon,
      expires_at: fields.expires_at ?? null,
      banked_seconds: fields.banked ?? 0,
      terminated_at: status === "terminated" ? new Date() : null,
      ended_reason: fields.ended_reason ?? null,
    })
    .execute();
  return row;
}

/** Answers a code that signs the owner in, once and within half a minute: a program, or the browser that set out with `visit`. */
export async function insertCode(
  db: Db,
  row: Row,
  session: string | null,
  visit: string | null = null,
): Promise<string> {
  const code = randomBytes(32).toString("base64url");
  const hash = createHash("sha256").update(code).digest();
  await db
    .insertInto("sign_in_codes")
    .values({
      hash,
      user_id: row.userId,
      environment_id: row.id,
      auth_session: session,
      visit: visit === null ? null : Buffer.from(visit, "base64url"),
      expires_at: new Date(Date.now() + 30_000),
    })
    .execute();
  return code;
}
