import { writeFile } from "node:fs/promises";
import { plural } from "@berth/contract";
import { AppError } from "../../app-error.ts";
import type { Config } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import { formatAmount } from "../../payments/ledger/format-amount.ts";
import { type Command, type Options, usage } from "../parse-command.ts";
import { pageOf, printPage } from "../print-page.ts";
import { type Columns, oneLine, printJson, tableOf } from "../print-rows.ts";
import { announcerOf, appUrlOf, authorOf, withDatabase } from "../with-database.ts";
import { deleteAccount } from "./delete-account.ts";
import { exportUser, recordExport } from "./export-user.ts";
import { findUsers, type UserSummary, usersPerPage } from "./find-user.ts";
import type { SuspensionPreview } from "./preview-suspension.ts";
import { readUser } from "./read-user.ts";
import { removeFactor } from "./remove-factor.ts";
import { resetLink } from "./reset-link.ts";
import { liftedText, liftSuspension, suspendedText, suspendUser } from "./suspend-user.ts";
import { type PeopleDeps, warnedText, warningsBefore, warnUser } from "./warn-user.ts";

const who = ["ID | MAIL"];

/** Accounts: finding, warning, suspending (G69). */
export const peopleCommands: readonly Command[] = [
  {
    name: "users",
    args: [],
    options: { page: "NUMBER", json: "" },
    about: `lists accounts, newest first, ${usersPerPage} on a page`,
    example: "users --page 2",
    run: (config, _, options) => find(config, "", options),
  },
  {
    name: "users find",
    args: ["TEXT..."],
    options: { page: "NUMBER", json: "" },
    about: "finds accounts by a part of their address, name or id",
    example: "users find ada@uni.example",
    run: (config, text, options) => find(config, text.join(" "), options),
  },
  {
    name: "user",
    args: who,
    options: { json: "" },
    about: "shows an account: orders, environments, money, warnings, and what operators did",
    example: "user ada@uni.example",
    run: show,
  },
  {
    name: "users export",
    args: who,
    options: { to: "FILE", reason: "TEXT" },
    about: "writes everything stored about an account into a new file, as its owner could",
    example: "users export ada@uni.example --to ada.json --reason 'She asked by mail'",
    run: exportTo,
  },
  {
    name: "users warn",
    args: who,
    options: { reason: "TEXT" },
    about: "warns an account by bell and mail; it reads the reason",
    example: "users warn ada@uni.example --reason 'Scans of other networks'",
    run: warn,
  },
  {
    name: "users suspend",
    args: who,
    options: { reason: "TEXT", refund: "", now: "" },
    about: `ends its sign-ins and stops its environments, after ${warningsBefore} warnings or with --now; --refund ends them and pays their unused time back`,
    example: "users suspend ada@uni.example --reason 'Scans again' --refund",
    run: suspend,
  },
  {
    name: "users lift",
    args: who,
    options: { reason: "TEXT" },
    about: "ends a suspension",
    example: "users lift ada@uni.example --reason 'It was her neighbour'",
    run: lift,
  },
  {
    name: "users reset-link",
    args: who,
    options: { reason: "TEXT" },
    about:
      "prints a one-time link, valid for an hour, with which its owner sets a new password; hand it to nobody else",
    example: "users reset-link ada@uni.example --reason 'She forgot it, and stood before me'",
    run: printResetLink,
  },
  {
    name: "users remove-factor",
    args: who,
    options: { reason: "TEXT" },
    about:
      "turns an account's second factor off, removes its passkeys and ends its sign-ins, for an owner who lost phone and recovery codes",
    example: "users remove-factor ada@uni.example --reason 'She stood before me without her phone'",
    run: dropFactor,
  },
  {
    name: "users delete",
    args: who,
    options: { reason: "TEXT", yes: "" },
    about: "deletes an account for good, as its owner could; without --yes it only says so",
    example: "users delete ada@uni.example --reason 'She asked by mail' --yes",
    run: erase,
  },
];

type Args = readonly string[];

async function act<T>(config: Config, work: (deps: PeopleDeps) => Promise<T>): Promise<T> {
  const shared = { announce: announcerOf(config), contact: config.brand.email };
  return await withDatabase(config, (db: Db) => work({ db, ...shared }));
}

const userColumns: Columns<UserSummary> = {
  id: ({ user_id }) => user_id,
  mail: ({ email }) => email,
  name: ({ name }) => name || null,
  since: ({ created_at }) => created_at,
  environments: ({ environments }) => environments,
  paid: ({ paid_orders }) => paid_orders,
  warnings: ({ warnings }) => warnings,
  suspended: ({ suspended_at }) => suspended_at,
};

async function find(config: Config, text: string, options: Options): Promise<void> {
  const page = pageOf(options);
  const found = await withDatabase(config, (db) => findUsers(db, text, page));
  printPage(found, userColumns, options, { none: "There is no such account", perPage: usersPerPage });
}

async function show(config: Config, [id = ""]: Args, { json }: Options): Promise<void> {
  const user = await withDatabase(config, (db) => readUser(db, id));
  if (json !== undefined) return printJson(user);
  const { warnings, suspensions, money, environments, orders, audit, if_suspended, ...profile } = user;
  const facts = Object.entries(profile).map(([key, value]) => ({ key, value }));
  const sections: Readonly<Record<string, string>> = {
    "": tableOf(facts, {
      fact: ({ key }) => key,
      value: ({ value }) => (value instanceof Date ? value : String(value)),
    }),
    money: money
      .map((each) => {
        const [paid, back] = [each.paid_minor, each.refunded_minor].map((minor) => formatAmount(minor, each.currency));
        return `paid ${paid}, refunded ${back}, ${each.disputes} disputes`;
      })
      .join("\n"),
    warnings: warnings.map(({ warned_at, reason }) => `${warned_at.toISOString()}  ${oneLine(reason)}`).join("\n"),
    suspensions: suspensions
      .map(({ suspended_at, lifted_at, reason }) => {
        const until = lifted_at ? `until ${lifted_at.toISOString()}` : "still";
        return `${suspended_at.toISOString()} ${until}  ${oneLine(reason)}`;
      })
      .join("\n"),
    "if it were suspended now": profile.suspended ? "" : previewText(if_suspended),
    environments: rowsText(environments),
    orders: rowsText(orders),
    audit: rowsText(audit.map(({ details, ...each }) => each)),
  };
  for (const [title, text] of Object.entries(sections)) if (text) console.log(title ? `\n${title}\n${text}` : text);
}

function previewText({ stopping, ending, launches, unpaid_orders, unused_amounts }: SuspensionPreview): string {
  const back = unused_amounts.map(({ currency, minor }) => formatAmount(minor, currency)).join(" and ") || "nothing";
  return [
    `${plural(stopping, "environment")} would stop; with --refund ${ending} would end, and ${back} would go back`,
    `${plural(launches, "launch that was", "launches that were")} never ready would end and be paid back, ${plural(unpaid_orders, "unpaid order")} be cancelled`,
  ].join("\n");
}

/** A table with a column for each key. */
function rowsText(rows: readonly object[]): string {
  const keys = Object.keys(rows[0] ?? {});
  const columns = keys.map((key) => [key, (row: object) => row[key as keyof object] ?? null] as const);
  return rows.length > 0 ? tableOf(rows, Object.fromEntries(columns)) : "";
}

async function exportTo(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  const path = options["to"];
  if (!path) return usage("users export lacks --to FILE.");
  const userId = await withDatabase(config, async (db) => {
    const { userId, document } = await exportUser(db, id);
    await writeFile(path, document, { mode: 0o600, flag: "wx" }).catch((error) => {
      throw new AppError("invalid_request", `The export cannot be written: ${error.message}`);
    });
    await recordExport(db, userId, authorOf(options));
    return userId;
  });
  console.log(`The export of ${userId} is in ${path}`);
}

async function warn(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  const warnings = await act(config, (deps) => warnUser(deps, id, authorOf(options)));
  console.log(warnedText(id, warnings));
}

async function suspend(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  const how = { now: options["now"] !== undefined, refund: options["refund"] !== undefined };
  const suspended = await act(config, (deps) => suspendUser(deps, id, how, authorOf(options)));
  console.log(suspendedText(id, suspended, how.refund));
}

async function lift(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  const lifted = await act(config, (deps) => liftSuspension(deps, id, authorOf(options)));
  console.log(liftedText(id, lifted));
}

async function printResetLink(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  console.log(
    await withDatabase(config, (db) => resetLink({ db, config, appUrl: appUrlOf(config) }, id, authorOf(options))),
  );
}

async function dropFactor(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  console.log(await act(config, (deps) => removeFactor(deps, id, authorOf(options))));
}

async function erase(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  const isMeant = options["yes"] !== undefined;
  const userId = await withDatabase(config, (db) => deleteAccount(db, id, authorOf(options), isMeant));
  console.log(
    isMeant
      ? `${userId} is deleted; receipts stay without its name`
      : `This deletes ${userId} with its environments and files for good. To do it, add --yes`,
  );
}
