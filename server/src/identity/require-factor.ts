import {
  type AnyEndpoint,
  beginSecondFactor,
  confirmSecondFactor,
  deleteAccount,
  exportAccount,
  linkedAccounts,
  logout,
  openTicket,
  passkeys,
  secondFactor,
  settings,
} from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";
import type { SecondFactors } from "./identity.ts";

/** What an account without a factor may do where one is required: set it up, ask for help, leave. */
const open: ReadonlySet<AnyEndpoint | undefined> = new Set([
  ...[secondFactor, beginSecondFactor, confirmSecondFactor, passkeys, settings, linkedAccounts],
  ...[logout, openTicket, exportAccount, deleteAccount],
]);

/** Refuses every other call of a signed-in account without a second factor (G402). After `limitRequests`. */
export function requireFactor(app: FastifyInstance, { read }: Pick<SecondFactors, "read">): void {
  app.addHook("preHandler", async ({ user, routeOptions: { config } }) => {
    if (config.auth !== "bearer" || !user || open.has(config.endpoint)) return;
    if ((await read(user.id)).since) return;
    throw new AppError("second_factor_required", "Set up two-factor sign-in first, under Settings, Security");
  });
}
