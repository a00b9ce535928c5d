import { deleteAccount, exportAccount, profile } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { containerOf } from "../environments/environment.ts";
import { isAccountDeleted } from "../environments/homes/home-records.ts";
import { mount, success } from "../http/mount.ts";
import type { Identity } from "../identity/identity.ts";
import { provePassword } from "../identity/prove-password.ts";
import { accountReader } from "./account-reader.ts";
import { eraseAccount } from "./erase-account.ts";
import { exportAccountOf } from "./export-account.ts";
import { paymentOf } from "./payments-of.ts";

interface AccountDeps {
  readonly db: Db;
  readonly identity: Identity;
}

/** `GET /profile/{user_id}`, for the dashboard and the list (spec 7.1); export and deletion (G71). */
export function accountRoutes(app: FastifyInstance, { db, identity }: AccountDeps): void {
  const accountOf = accountReader(db);
  mount(app, profile, async ({ user }) => {
    const { profile: stored, environments, payments, usage } = await accountOf(user);
    return {
      ...success,
      profile: {
        name: stored.name,
        email: user.email,
        phone: stored.phone,
        email_verified: user.emailVerified,
      },
      user_data: {
        containers: Object.fromEntries(environments.map((row) => [row.id, containerOf(row)])),
        payment_info: Object.fromEntries(payments.map((row) => [row.id, paymentOf(row)])),
      },
      usage,
    };
  });

  mount(app, exportAccount, async ({ user }) => ({ ...success, ...(await exportAccountOf(db, user)) }));

  mount(app, deleteAccount, async ({ user, body, request }) => {
    await provePassword({ db, identity }, { user, password: body.password, from: request.ip }).catch(
      // Of two concurrent deletions both succeed.
      async (error: unknown) => {
        if (!(await isAccountDeleted(db, user.id))) throw error;
      },
    );
    await eraseAccount(db, identity, user.id);
    return success;
  });
}
