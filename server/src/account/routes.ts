import { profile } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { containerOf, listEnvironments } from "../environments/environments.ts";
import { mount, success } from "../http/mount.ts";
import { readProfile } from "../identity/profiles.ts";
import { paymentOf, paymentsOf } from "./payments-of.ts";
import { usageOf } from "./usage.ts";

/** `GET /profile/{user_id}`: everything the dashboard and the list show (spec section 7). */
export function accountRoutes(app: FastifyInstance, db: Db): void {
  mount(app, profile, async ({ user }) => {
    const [stored, environments, payments, usage] = await Promise.all([
      readProfile(db, user),
      listEnvironments(db, user.id),
      paymentsOf(db, user.id),
      usageOf(db, user.id),
    ]);
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
}
