import {
  actOnPerson,
  exportPerson,
  makeResetLink,
  type PersonAct,
  readPerson,
  searchPeople,
  suspendPerson,
} from "@berth/contract/console/people";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../app-error.ts";
import type { Author } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { mount, success } from "../../http/mount.ts";
import { findUser } from "../../identity/local/users.ts";
import { exportUser, recordExport } from "../people/export-user.ts";
import { findUsers, usersPerPage } from "../people/find-user.ts";
import { listCredits } from "../people/list-credits.ts";
import { readUser } from "../people/read-user.ts";
import { removeFactor } from "../people/remove-factor.ts";
import { resetLink } from "../people/reset-link.ts";
import { liftedText, liftSuspension, suspendedText, suspendUser } from "../people/suspend-user.ts";
import { type PeopleDeps, warnedText, warningsBefore, warnUser } from "../people/warn-user.ts";
import { auditedAct } from "./audited-act.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { authorOf } from "./guard-console.ts";
import { onWire } from "./on-wire.ts";

/** Accounts: what `operator -- users` does (G69, G119). */
export function peopleRoutes(
  app: FastifyInstance,
  { db, announce, appUrl, config }: Pick<ConsoleDeps, "db" | "announce" | "appUrl" | "config">,
): void {
  const deps: PeopleDeps = { db, announce, contact: config.brand.email };
  mount(app, searchPeople, async ({ body: { text, page } }) => {
    const { rows, total } = await findUsers(db, text, page);
    return { ...success, people: onWire(rows), total, per_page: usersPerPage };
  });
  mount(app, readPerson, async ({ params: { id } }) => {
    const { audit, ...person } = await readUser(db, id);
    const credits = onWire(await listCredits(db, person.user_id));
    const acts = audit.map(auditedAct);
    return { ...success, person: onWire(person), audit: acts, warnings_before: warningsBefore, credits };
  });
  mount(app, actOnPerson, async ({ params: { id, act }, body, request }) => {
    const author = authorOf(request, body.reason);
    return { ...success, message: await acts[act as PersonAct](deps, await mailOf(db, id), author) };
  });
  mount(app, suspendPerson, async ({ params: { id }, body: { reason, typed, ...how }, request }) => {
    const author = authorOf(request, reason);
    const email = await mailOf(db, id);
    if (how.refund && typed.trim() !== email)
      throw new AppError("invalid_request", `Type ${email}, the address of the account whose environments end`);
    return { ...success, message: suspendedText(email, await suspendUser(deps, id, how, author), how.refund) };
  });
  mount(app, makeResetLink, async ({ params: { id }, body, request }) => {
    const link = await resetLink({ db, config, appUrl }, id, authorOf(request, body.reason));
    return { ...success, message: "The link is valid for an hour, once", link };
  });
  mount(app, exportPerson, async ({ params: { id }, body, request }) => {
    const author = authorOf(request, body.reason);
    const { userId, document } = await exportUser(db, id);
    await recordExport(db, userId, author);
    return { ...success, message: `${userId} is exported`, name: `account-${userId}.json`, document };
  });
}

/** Each returns the sentence that says what was done. */
const acts: Readonly<Record<PersonAct, (deps: PeopleDeps, mail: string, author: Author) => Promise<string>>> = {
  warn: async (deps, mail, author) => warnedText(mail, await warnUser(deps, mail, author)),
  "remove-factor": removeFactor,
  lift: async (deps, mail, author) => liftedText(mail, await liftSuspension(deps, mail, author)),
};

async function mailOf(db: Db, id: string): Promise<string> {
  const { email } = (await findUser(db, { uid: id })) ?? {};
  if (email === undefined) throw new AppError("not_found", "There is no account with this id");
  return email;
}
