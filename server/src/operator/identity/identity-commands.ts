import { readFile, writeFile } from "node:fs/promises";
import { AppError } from "../../app-error.ts";
import { recordAct, requireReason } from "../../audit/record-act.ts";
import type { Config } from "../../config/config.ts";
import { type Command, type Options, usage } from "../parse-command.ts";
import { authorOf, withDatabase } from "../with-database.ts";
import { importUsers } from "./import-users.ts";
import { readHashing, readUsersFile, usersFile } from "./users-file.ts";

/** Moving accounts from and to Firebase, in its own file (G322). */
export const identityCommands: readonly Command[] = [
  {
    name: "identity export",
    args: ["FILE"],
    options: { reason: "TEXT" },
    about: "writes all accounts into a new file that firebase auth:import reads, without passwords",
    example: "identity export users.json --reason 'We move to Firebase'",
    run: exportUsers,
  },
  {
    name: "identity import",
    args: ["FILE"],
    options: { hash: "FILE", reason: "TEXT" },
    about:
      "takes over the accounts of a file that firebase auth:export wrote, with their passwords by the parameters in --hash FILE",
    example: "identity import users.json --hash hash.txt --reason 'We leave Firebase'",
    run: importFrom,
  },
];

async function exportUsers(config: Config, [file = ""]: readonly string[], options: Options): Promise<void> {
  const author = authorOf(options);
  requireReason(author);
  const count = await withDatabase(config, async (db) => {
    const users = await db.selectFrom("identity_user").selectAll().orderBy("id").execute();
    await writeFile(file, usersFile(users), { mode: 0o600, flag: "wx" }).catch((error) => {
      throw new AppError("invalid_request", `The export cannot be written: ${error.message}`);
    });
    await db
      .transaction()
      .execute((tx) => recordAct(tx, author, "accounts.export", "accounts", { exported: users.length }));
    return users.length;
  });
  console.log(`${count} accounts are in ${file}, without passwords: at Firebase their owners ask for a reset link`);
}

async function importFrom(config: Config, [file = ""]: readonly string[], options: Options): Promise<void> {
  if (config.firebase) return usage("With IDENTITY=firebase accounts are there already: import with IDENTITY=local.");
  const hashing = options["hash"] === undefined ? undefined : readHashing(await textOf(options["hash"]));
  const users = readUsersFile(await textOf(file), hashing);
  const { imported, known, refused } = await withDatabase(config, (db) => importUsers(db, users, authorOf(options)));
  console.log(`${imported} accounts are imported, ${known} were here before, ${refused.length} are refused`);
  for (const id of refused) console.log(`${id}: no address, another account's address, or deleted here`);
}

async function textOf(file: string): Promise<string> {
  return await readFile(file, "utf8").catch((error) => {
    throw new AppError("invalid_request", `${file} cannot be read: ${error.message}`);
  });
}
