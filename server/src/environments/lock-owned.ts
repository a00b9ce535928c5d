import type { Status } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../app-error.ts";
import type { Tx } from "../database/database.ts";
import { notFound } from "../http/mount.ts";
import { isSuspended } from "../identity/is-suspended.ts";
import { type Environment, isEnvironmentId } from "./environment.ts";

/** An environment of one user. */
export interface Owned {
  readonly id: string;
  readonly userId: string;
}

/** The row, locked. 404 for another user's as for none; a suspended owner is not signed in any more. */
export async function lockOwned(tx: Tx, { id, userId }: Owned): Promise<Environment> {
  if (!isEnvironmentId(id)) throw notFound();
  const { rows } = await sql<Environment>`
    select * from environments where id = ${id} and user_id = ${userId} for update`.execute(tx);
  if (!rows[0]) throw notFound();
  if (await isSuspended(tx, userId)) throw new AppError("unauthenticated", "Sign in first");
  return rows[0];
}

const participles = {
  pause: "paused",
  stop: "stopped",
  restart: "restarted",
  start: "started",
  terminate: "ended",
  cancel: "cancelled",
  set: "changed",
  fresh: "started afresh",
};

const reasons: Readonly<Record<Status, string>> = {
  pending: "is still starting",
  active: "is running already",
  paused: "is paused",
  stopped: "is stopped",
  terminated: "has ended",
  unknown: "cannot be reached at the moment",
};

export function refusal({ subdomain, desired, status }: Environment, action: keyof typeof participles): AppError {
  const reason = desired === "terminated" && status !== "terminated" ? "is being ended" : reasons[status];
  return new AppError("action_not_allowed", `${subdomain} ${reason} and cannot be ${participles[action]} now`);
}
