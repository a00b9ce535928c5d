import { hkdfSync } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";

/** The signed-in operator of a request. */
export interface Operator {
  readonly id: string;
  readonly email: string;
  readonly sessionId: string;
}

export interface OperatorSessions {
  /** Returns the token for the cookie. */
  open(operatorId: string, address: string): Promise<string>;
  /** Reads and extends a sign-in; undefined without a valid token, after 30 idle minutes, and 12 hours after its start. */
  read(token: string): Promise<Operator | undefined>;
  end(sessionId: string): Promise<void>;
}

/** Audience of the token: no API of a tenant takes it, and the console takes no other (G143). */
const audience = "operator";
const algorithm = "HS256";

/** Sign-ins of operators: the token is signed and names a row, which can be revoked; the row's clock is the database's. */
export function operatorSessions(db: Db, secret: Buffer): OperatorSessions {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "operator session v1", 32));
  return {
    async open(operatorId, address) {
      const id = newId();
      // Kept for a while after their end, for who asks which addresses an operator signed in from.
      await sql`delete from operator_sessions where expires_at < now() - interval '90 days'`.execute(db);
      const expires_at = sql<Date>`now() + interval '12 hours'`;
      await db.insertInto("operator_sessions").values({ id, operator_id: operatorId, address, expires_at }).execute();
      return await new SignJWT().setProtectedHeader({ alg: algorithm }).setAudience(audience).setJti(id).sign(key);
    },
    async read(token) {
      const id = await jwtVerify(token, key, { audience, algorithms: [algorithm] }).then(
        ({ payload }) => payload.jti,
        () => undefined,
      );
      return id === undefined ? undefined : await readSession(db, id);
    },
    async end(sessionId) {
      await db.updateTable("operator_sessions").set({ revoked_at: sql`now()` }).where("id", "=", sessionId).execute();
    },
  };
}

async function readSession(db: Db, id: string): Promise<Operator | undefined> {
  const { rows } = await sql<Operator>`
    update operator_sessions session set seen_at = now() from operators operator
    where session.id = ${id} and operator.id = session.operator_id and session.revoked_at is null
      and session.expires_at > now() and session.seen_at > now() - interval '30 minutes'
    returning operator.id, operator.email, session.id as "sessionId"`.execute(db);
  return rows[0];
}
