import { createHash, randomBytes } from "node:crypto";
import type { Insertable } from "kysely";
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

const soon = () => new Date(Date.now() + 3_600_000);

/** Inserts an environment in any state with its order; its endpoint is `port` on loopback. */
export async function insertEnvironment(db: Db, fields: Fields): Promise<Row> {
  const subdomain = fields.subdomain ?? `n-${newId().slice(0, 12)}`;
  const row: Row = { id: newId(), subdomain, userId: fields.user_id ?? "owner", secret: newId(), runToken: newId() };
  const { status = "active", port } = fields;
  const shared = {
    user_id: row.userId,
    container_type: "jupyter",
    subdomain,
    gpu_count: 1,
    duration_hours: 1,
  } as const;
  await db
    .insertInto("environments")
    .values({
      ...shared,
      id: row.id,
      order_id: await insertOrder(db, shared),
      host_id: "local",
      home: subdomain,
      status,
      desired: fields.desired ?? (status === "terminated" ? "terminated" : "running"),
      secret: row.secret,
      run_token: port === undefined ? null : row.runToken,
      endpoint: port === undefined ? null : JSON.stringify({ host: "127.0.0.1", port }),
      stage: fields.stage ?? null,
      stop_reason: fields.stop_reason ?? null,
      give_up_at: soon(),
      expires_at: fields.expires_at ?? null,
      banked_seconds: fields.banked ?? 0,
      terminated_at: status === "terminated" ? new Date() : null,
      ended_reason: fields.ended_reason ?? null,
    })
    .execute();
  return row;
}

type OrderFields = Pick<
  Insertable<Tables["orders"]>,
  "user_id" | "container_type" | "subdomain" | "gpu_count" | "duration_hours"
>;

async function insertOrder(db: Db, fields: OrderFields): Promise<string> {
  const id = newId();
  const price = { usd_minor: 20, amount_minor: 20, currency: "USD", inr_paise_per_usd: 8822 } as const;
  const provider = { gateway: "embedded", mode: "embedded", request_hash: "" } as const;
  await db
    .insertInto("orders")
    .values({ ...fields, ...price, ...provider, id, status: "expired", hold_until: soon(), watch_until: soon() })
    .execute();
  return id;
}

/** Inserts a sign-in code of the owner, for a program or, with `visit`, for one browser; returns it. */
export async function insertCode(
  db: Db,
  row: Row,
  session: string | null,
  visit: string | null = null,
  port: number | null = null,
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
      port,
      visit: visit === null ? null : Buffer.from(visit, "base64url"),
      expires_at: new Date(Date.now() + 30_000),
    })
    .execute();
  return code;
}
