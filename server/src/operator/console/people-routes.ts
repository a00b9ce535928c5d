import {
  actOnPerson,
  exportPerson,
  type PersonAct,
  readPerson,
  searchPeople,
  suspendPerson,
} from "@berth/contract/console/people";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../app-error.ts";
import type { Author } from "../../audit/record-act.ts";
import { mount, success } from "../../http/mount.ts";
import { exportUser, recordExport } from "../people/export-user.ts";
import { findUsers, usersPerPage } from "../people/find-user.ts";
import { readUser } from "../people/read-user.ts";
import { liftedText, liftSuspension, suspendedText, suspendUser } from "../people/suspend-user.ts";
import { type PeopleDeps, warnedText, warningsBefore, warnUser } from "../people/warn-user.ts";
import { auditedAct } from "./audited-act.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { authorOf } from "./guard-console.ts";
import { onWire } from "./on-wire.ts";

/** Accounts: what `operator -- users` does (G69, G119). */
export function peopleRoutes(
  app: FastifyInstance,
  { db, announce, config }: Pick<ConsoleDeps, "db" | "announce" | "config">,
): void {
  const deps: PeopleDeps = { db, announce, contact: config.brand.email };
  mount(app, searchPeople, async ({ body: { text, page } }) => {
    const { rows, total } = await findUsers(db, text, page);
    return { ...success, people: onWire(rows), total, per_page: usersPerPage };
  });
  mount(app, readPerson, async ({ params: { id } }) => {
    const { audit, ...person } = await readUser(db, id);
    return { ...success, person: onWire(person), audit: audit.map(auditedAct), warnings_before: warningsBefore };
  });
  mount(app, actOnPerson, async ({ params: { id, act }, body, request }) => {
    const author = authorOf(request, body.reason);
    return { ...success, message: await acts[act as PersonAct](deps, id, author) };
  });
  mount(app, suspendPerson, async ({ params: { id }, body: { reason, typed, ...how }, request }) => {
    const author = authorOf(request, reason);
    const { email } = await readUser(db, id);
    if (how.refund && typed.trim() !== email)
      throw new AppError("invalid_request", `Type ${email}, the address of the account whose environments end`);
    return { ...success, message: suspendedText(email, await suspendUser(deps, id, how, author), how.refund) };
  });
  mount(app, exportPerson, async ({ params: { id }, body, request }) => {
    const author = authorOf(request, body.reason);
    const { userId, document } = await exportUser(db, id);
    await recordExport(db, userId, author);
    return { ...success, message: `${userId} is exported`, name: `account-${userId}.json`, document };
  });
}

const acts: Readonly<Record<PersonAct, (deps: PeopleDeps, id: string, author: Author) => Promise<string>>> = {
  warn: async (deps, id, author) => warnedText(id, await warnUser(deps, id, author)),
  lift: async (deps, id, author) => liftedText(id, await liftSuspension(deps, id, author)),
};
