import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Connection } from "../../database/connection.ts";

/**
 * The address of a database for PostgreSQL's own programs. The password goes into a file in `folder`, which must be closed
 * to other accounts: a command line is not.
 */
export async function libpqAddress(connection: Connection, folder: string): Promise<string> {
  const file = join(folder, "pgpass");
  const { connectionString } = connection;
  const url = connectionString === undefined ? undefined : new URL(connectionString);
  const password = url ? decodeURIComponent(url.password) : (connection.password ?? "");
  await writeFile(file, `*:*:*:*:${password.replace(/[\\:]/g, "\\$&")}\n`, { mode: 0o600 });
  return url ? ofUrl(url, file) : ofParts(connection, file);
}

/** What the driver for Node knows and libpq does not is translated: `ssl`, and `sslmode=no-verify`. */
function ofUrl(url: URL, passfile: string): string {
  const { searchParams: fields } = url;
  const ssl = fields.get("ssl");
  fields.delete("ssl");
  if (ssl === "true" && !fields.has("sslmode")) fields.set("sslmode", "verify-full");
  if (fields.get("sslmode") === "verify-full" && !fields.has("sslrootcert")) fields.set("sslrootcert", "system");
  if (fields.get("sslmode") === "no-verify") fields.set("sslmode", "require");
  fields.set("passfile", passfile);
  url.password = "";
  // libpq takes a plus for a plus.
  url.search = `?${fields.toString().replaceAll("+", "%20")}`;
  return url.href;
}

function ofParts({ host = "", user = "", database = "", scramOnly }: Connection, passfile: string): string {
  const fields = { host, user, dbname: database, passfile, ...(scramOnly && { require_auth: "scram-sha-256" }) };
  return Object.entries(fields)
    .map(([name, value]) => `${name}='${value.replace(/[\\']/g, "\\$&")}'`)
    .join(" ");
}
