import {
  type AnyEndpoint,
  addPasskey,
  beginPasskey,
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

/** What a sign-in without a factor may do where one is required: set one up, ask for help, leave. */
const open: ReadonlySet<AnyEndpoint | undefined> = new Set([
  ...[
    secondFactor,
    beginSecondFactor,
    confirmSecondFactor,
    passkeys,
    beginPasskey,
    addPasskey,
    settings,
    linkedAccounts,
  ],
  ...[logout, openTicket, exportAccount, deleteAccount],
]);

/** Refuses every other call of a sign-in that no second factor holds (G402, G433). After `limitRequests`. */
export function requireFactor(app: FastifyInstance, { isHeld }: Pick<SecondFactors, "isHeld">): void {
  app.addHook("preHandler", async ({ user, routeOptions: { config } }) => {
    if (config.auth !== "bearer" || !user || open.has(config.endpoint)) return;
    if (await isHeld(user.id, user.sessionId)) return;
    throw new AppError(
      "second_factor_required",
      "Set up two-factor sign-in first, under Settings, Security, or log in with a passkey",
    );
  });
}
