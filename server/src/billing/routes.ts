import { billing } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { mount, success } from "../http/mount.ts";
import { readBilling } from "./read.ts";
import { statementOf } from "./statement.ts";

/** `GET /billing/{user_id}`: what the screen Billing and Usage shows (G63). */
export function billingRoutes(app: FastifyInstance, db: Db): void {
  mount(app, billing, async ({ user }) => ({
    ...success,
    ...statementOf(await readBilling(db, user.id), new Date()),
  }));
}
