import { mostCodes, mostGpus, mostHours } from "@berth/contract/console/credits";
import type { Config } from "../../config/config.ts";
import { gpuHoursText } from "../../payments/credits/gpu-hours-text.ts";
import { type Command, type Options, usage } from "../parse-command.ts";
import { type Columns, printJson, printRows } from "../print-rows.ts";
import { endOfDay, readTime } from "../read-time.ts";
import { announcerOf, authorOf, withDatabase } from "../with-database.ts";
import { grantCredit, revokeCredit } from "./grant-credit.ts";
import { type CreditSummary, listCredits } from "./list-credits.ts";
import {
  createVouchers,
  listVouchers,
  type RedeemedVoucher,
  readRedeemed,
  revokeVouchers,
  type VoucherBatch,
  voidText,
} from "./vouchers.ts";

/** Credits of GPU-hours, and vouchers that bring one (G153-G156). */
export const creditCommands: readonly Command[] = [
  {
    name: "credits grant",
    args: ["ID | MAIL", "HOURS"],
    options: { gpus: "NUMBER", reason: "TEXT" },
    about:
      "grants so many hours with so many GPUs (1) to an account; its next environment gets them, and it reads the reason",
    example: "credits grant ada@uni.example 10 --gpus 2 --reason 'Sorry for Monday'",
    run: grant,
  },
  {
    name: "credits list",
    args: ["[ID | MAIL]"],
    options: { json: "" },
    about: "lists open credits, or every credit of one account",
    example: "credits list ada@uni.example",
    run: list,
  },
  {
    name: "credits revoke",
    args: ["ID"],
    options: { reason: "TEXT" },
    about: "takes back a granted credit that is not used; its owner reads the reason",
    example: "credits revoke a1b2c3d4e5f6g7h8j9k0m1n2p --reason 'Meant for another account'",
    run: revoke,
  },
  {
    name: "vouchers create",
    args: [],
    options: {
      ...{ hours: "HOURS", gpus: "NUMBER", count: "NUMBER", expires: "DAY", "limit-per-month": "NUMBER" },
      alone: "",
      ...{ reason: "TEXT", json: "" },
    },
    about:
      "makes codes of one kind and prints them once: each brings a credit to one account, and an account redeems one of a kind",
    example: "vouchers create --hours 10 --gpus 1 --count 30 --expires 2027-06-30 --reason 'Course ML 101'",
    run: create,
  },
  {
    name: "vouchers list",
    args: [],
    options: { json: "" },
    about: "lists the kinds of codes: how many were redeemed and revoked",
    example: "vouchers list",
    run: vouchers,
  },
  {
    name: "vouchers show",
    args: ["KIND"],
    options: { json: "" },
    about: "says which accounts redeemed a code of a kind, when, and whether its hours are used",
    example: "vouchers show a1b2c3d4e5f6g7h8j9k0m1n2p",
    run: showKind,
  },
  {
    name: "vouchers revoke",
    args: ["CODE | ID"],
    options: { reason: "TEXT" },
    about: "makes one code void, or every code of a kind that is not redeemed; credits that they brought stay",
    example: "vouchers revoke 7K3MQ-0T9W2-MZP7X-K4Q0T --reason 'It was published'",
    run: withdraw,
  },
];

type Args = readonly string[];

/** The whole number of an option or an argument, from 1 on. Throws UsageError. */
function numberOf(name: string, text: string, most: number): number {
  if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most) return Number(text);
  return usage(`${name} is a whole number from 1 to ${most}, not ${text}.`);
}

function gpuHoursOf(hours: string, { gpus = "1" }: Options): number {
  return numberOf("HOURS", hours, mostHours) * numberOf("--gpus", gpus, mostGpus);
}

async function grant(config: Config, [who = "", hours = ""]: Args, options: Options): Promise<void> {
  const gpuHours = gpuHoursOf(hours, options);
  const announce = announcerOf(config);
  const { id, userId } = await withDatabase(config, (db) =>
    grantCredit({ db, announce }, who, gpuHours, authorOf(options)),
  );
  console.log(`${userId} has ${gpuHoursText(gpuHours)} more: credit ${id}`);
}

const creditColumns: Columns<CreditSummary> = {
  id: ({ id }) => id,
  owner: ({ email, user_id }) => email ?? user_id,
  "GPU-hours": ({ gpu_hours }) => gpu_hours,
  from: ({ source }) => source,
  granted: ({ granted_at }) => granted_at,
  state: ({ state }) => state,
  order: ({ used_by_order }) => used_by_order,
  why: ({ note }) => note || null,
};

async function list(config: Config, [who]: Args, options: Options): Promise<void> {
  const rows = await withDatabase(config, (db) => listCredits(db, who));
  printRows(rows, creditColumns, options, who === undefined ? "No credit is open" : `${who} has had no credit`);
}

async function revoke(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  const announce = announcerOf(config);
  const isNew = await withDatabase(config, (db) => revokeCredit({ db, announce }, id, authorOf(options)));
  console.log(isNew ? `${id} is revoked; its owner is notified` : `${id} is revoked already`);
}

async function create(config: Config, _: Args, options: Options): Promise<void> {
  const { hours, count = "1", expires, "limit-per-month": perMonth, json } = options;
  if (hours === undefined) return usage("vouchers create lacks --hours HOURS.");
  const wanted = {
    gpuHours: gpuHoursOf(hours, options),
    count: numberOf("--count", count, mostCodes),
    perMonth: perMonth === undefined ? undefined : numberOf("--limit-per-month", perMonth, mostCodes),
    expiresAt: expires === undefined ? undefined : endOf(expires),
    alone: options["alone"] !== undefined,
  };
  const { id, codes } = await withDatabase(config, (db) => createVouchers(db, wanted, authorOf(options)));
  if (json !== undefined) return printJson({ id, codes });
  console.log(codes.join("\n"));
  console.error(`${codes.length} of the kind ${id}, ${gpuHoursText(wanted.gpuHours)} each. They are not shown again.`);
}

/** A day counts to its end (UTC). */
function endOf(text: string): Date {
  const at = readTime(text);
  return text.includes("T") ? at : endOfDay(at);
}

const voucherColumns: Columns<VoucherBatch> = {
  id: ({ id }) => id,
  "GPU-hours": ({ gpu_hours }) => gpu_hours,
  codes: ({ codes }) => codes,
  redeemed: ({ redeemed }) => redeemed,
  revoked: ({ revoked }) => revoked,
  "a month": ({ per_month }) => per_month,
  alone: ({ alone }) => (alone ? "yes" : null),
  until: ({ expires_at }) => expires_at,
  made: ({ created_at }) => created_at,
  why: ({ reason }) => reason,
};

async function vouchers(config: Config, _: Args, options: Options): Promise<void> {
  printRows(await withDatabase(config, listVouchers), voucherColumns, options, "There are no vouchers");
}

const redeemedColumns: Columns<RedeemedVoucher> = {
  account: ({ email, user_id }) => email ?? user_id,
  redeemed: ({ redeemed_at }) => redeemed_at,
  hours: ({ state }) => state,
  order: ({ used_by_order }) => used_by_order,
};

async function showKind(config: Config, [kind = ""]: Args, options: Options): Promise<void> {
  const rows = await withDatabase(config, (db) => readRedeemed(db, kind));
  printRows(rows, redeemedColumns, options, "Nobody has redeemed a code of this kind");
}

async function withdraw(config: Config, [which = ""]: Args, options: Options): Promise<void> {
  const codes = await withDatabase(config, (db) => revokeVouchers(db, which, authorOf(options)));
  console.log(voidText(codes));
}
