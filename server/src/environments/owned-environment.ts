import type { Status } from "@berth/contract";
import { AppError } from "../app-error.ts";
import type { Tx } from "../database/database.ts";
import { notFound } from "../http/mount.ts";
import { type Environment, isEnvironmentId } from "./environment.ts";

/** Which environment of whom. */
export interface Owned {
  readonly id: string;
  readonly userId: string;
}

/** The row, locked. Another's is like none: the same 404. */
export async function lockOwned(tx: Tx, { id, userId }: Owned): Promise<Environment> {
  if (!isEnvironmentId(id)) throw notFound();
  const row = await tx
    .selectFrom("environments")
    .selectAll()
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

const asked = {
  pause: "paused",
  stop: "stopped",
  restart: "restarted",
  start: "started",
  terminate: "ended",
  cancel: "cancelled",
  set: "changed",
};

const because: Readonly<Record<Status, string>> = {
  pending: "is still starting",
  active: "is running already",
  paused: "is paused",
  stopped: "is stopped",
  terminated: "has ended",
  unknown: "cannot be reached at the moment",
};

export function refusal({ subdomain, desired, status }: Environment, action: keyof typeof asked): AppError {
  const reason = desired === "terminated" && status !== "terminated" ? "is being ended" : because[status];
  return new AppError("action_not_allowed", `${subdomain} ${reason} and cannot be ${asked[action]} now`);
}
