import type { AuditRow } from "../../audit/audit-hash.ts";
import { compareSeal } from "../../audit/check-audit.ts";
import { readAudit, verifyAudit } from "../../audit/read-audit.ts";
import type { Config } from "../../config/config.ts";
import { type Command, type Options, usage } from "../parse-command.ts";
import { printNewest } from "../print-page.ts";
import { type Columns, printJson } from "../print-rows.ts";
import { readTime } from "../read-time.ts";
import { withDatabase, witnessOf } from "../with-database.ts";

/** What operators did (G118). */
export const auditCommands: readonly Command[] = [
  {
    name: "audit",
    args: [],
    options: { since: "DAY", subject: "ID", limit: "NUMBER", json: "" },
    about: "lists what operators did, newest first: 50 acts, or as many as --limit says",
    example: "audit --since 2026-11-01 --subject gpu-1",
    run: (config, _, options) => list(config, options),
  },
  {
    name: "audit verify",
    args: [],
    options: { head: "HASH", json: "" },
    about: "computes the chain of hashes again; ends with 1 when an act was changed or is missing",
    example: "audit verify",
    run: (config, _, options) => verify(config, options),
  },
];

const columns: Columns<Omit<AuditRow, "hash">> = {
  no: ({ id }) => id,
  at: ({ at }) => at,
  actor: ({ actor }) => actor,
  act: ({ act }) => act,
  subject: ({ subject_id }) => subject_id,
  reason: ({ reason }) => reason || null,
  details: ({ details }) => detailsText(details),
};

async function list(config: Config, options: Options): Promise<void> {
  const filter = {
    since: options["since"] === undefined ? undefined : readTime(options["since"]),
    subject: options["subject"],
  };
  const limit = limitOf(options["limit"]);
  const rows = await withDatabase(config, (db) => readAudit(db, { ...filter, limit: limit + 1 }));
  printNewest(
    rows.map(({ hash, ...row }) => ({ ...row, hash: hash.toString("hex") })),
    columns,
    options,
    { none: "There is no such act", limit, more: () => `--limit ${2 * limit}` },
  );
}

function detailsText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}

async function verify(config: Config, options: Options): Promise<void> {
  const noted = options["head"];
  if (noted !== undefined && !/^[0-9a-f]{64}$/.test(noted)) return usage(`${noted} is not a hash of 64 digits.`);
  const witness = witnessOf(config);
  const { seal, ...result } = await withDatabase(config, async (db) => ({
    ...(await verifyAudit(db, noted)),
    seal: witness && (await compareSeal(db, witness)),
  }));
  const { acts, head, broken, found } = result;
  if (broken !== undefined || found === false || seal) process.exitCode = 1;
  if (options["json"] !== undefined) return printJson({ ...result, ...(seal && { seal }) });
  if (broken !== undefined)
    return console.log(`Act ${broken} was changed or is missing; the ${acts} before it are whole`);
  if (found === false)
    return console.log(`${acts} acts are whole, but none has the hash ${noted}: newer acts were cut off`);
  if (seal) return console.log(seal);
  console.log(`${acts} acts are whole; the newest has the hash ${head}`);
}

function limitOf(text = "50"): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) return usage(`${text} is not a number of acts.`);
  return Number(text);
}
