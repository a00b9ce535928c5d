import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import type { Db, RowOf } from "../server/src/database/database.ts";
import { brokenInvariants } from "../server/src/payments/ledger/invariants.ts";
import { builtOperator } from "../server/src/testing/built-programs.ts";
import { type Customer, create, orderAndPay, send, signUp, until } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import { endRuns, type Product, removeFolder, startProduct, temporaryFolder, toolsDir } from "../testing/product.ts";
import { openProductDatabase } from "../testing/seed.ts";
import { kindsOfDamage, refuseDamaged } from "./damaged-backups.ts";
import { preparedJupyter } from "./labs.ts";
import { writeProof } from "./proof-page.ts";

const customerCount = 3;
/** 1,000 files and 200 MB in all. */
const filesOfHome = 334;
const longestFile = 400_000;
/** What must come back to the last byte. Other tables have clocks and leases that go on. */
const keptTables = ["identity_user", "profiles", "orders", "payments", "receipts", "journal", "journal_lines", "homes"];

/**
 * Customers rent and write files; a backup beside the running server, damaged copies of which are refused; server, database
 * and notebooks are killed and the data folder is deleted; restore and start. Everything must be back, and the notebooks run
 * again with their files.
 */
export async function proveRestore({ seed }: { seed: number }): Promise<void> {
  const dataDir = temporaryFolder();
  const backups = temporaryFolder();
  const file = join(backups, "backup.tar.gz");
  let product = await startProduct({ dataDir });
  try {
    await preparedJupyter(product.url);
    const customers = await rentAll(product);
    const before = await observe(product, customers);
    const backup = await timed(() => operate(dataDir, "backup", file, "--homes"));
    const verify = await timed(() => operate(dataDir, "backup", "verify", file));
    const refused = await refuseAll(dataDir, file, seed);
    const secret = join(backups, "secret");
    copyFileSync(join(dataDir, "secret"), secret);
    const late = await signUp(product.url, "Too late");
    await product.kill();
    endRuns(dataDir);
    removeFolder(dataDir);

    const fromMs = Date.now();
    await operate(dataDir, "restore", file, "--secret", secret);
    const restoredMs = Date.now() - fromMs;
    product = await startProduct({ dataDir, port: product.port });
    const startedMs = Date.now() - fromMs;
    await checkSignIns(product, customers);
    await preparedJupyter(product.url);
    for (const customer of customers) await runAgain(product, customer);
    const runningMs = Date.now() - fromMs;
    assert.deepEqual(await observe(product, customers), before);
    assert.equal((await signIn(product, late)).status, 400, "an account made after the backup is gone");
    assert.deepEqual(await withDatabase(product, brokenInvariants), []);

    report({ ...before, backup, verify, restoredMs, startedMs, runningMs, size: statSync(file).size, refused, seed });
  } finally {
    await product.stop();
    removeFolder(dataDir);
    removeFolder(backups);
  }
}

/** Of both backups, with homes and without; the one with homes takes seconds for each try. */
async function refuseAll(dataDir: string, file: string, seed: number): Promise<number> {
  const small = `${file}.small`;
  const secret = readFileSync(join(dataDir, "secret"), "utf8");
  await operate(dataDir, "backup", small);
  return (await refuseDamaged(small, secret, 100, seed)) + (await refuseDamaged(file, secret, 3, seed));
}

/** With the old password, and by the old sign-in. */
async function checkSignIns(product: Product, customers: readonly Renter[]): Promise<void> {
  for (const customer of customers) {
    assert.equal((await signIn(product, customer)).status, 200, "the old password");
    const { status } = await send(product.url, "GET", `/profile/${customer.userId}`, { token: customer.idToken });
    assert.equal(status, 200, "the old sign-in");
  }
}

interface Figures extends Pick<Awaited<ReturnType<typeof observe>>, "files" | "bytes"> {
  readonly backup: number;
  readonly verify: number;
  readonly restoredMs: number;
  readonly startedMs: number;
  readonly runningMs: number;
  readonly size: number;
  readonly refused: number;
  readonly seed: number;
}

function report({
  files,
  bytes,
  backup,
  verify,
  restoredMs,
  startedMs,
  runningMs,
  size,
  refused,
  seed,
}: Figures): void {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const megabytes = (count: number) => `${(count / 1e6).toFixed(0)} MB`;
  const text = [
    `${customerCount} customers with a running JupyterLab each and ${Object.keys(files).length} files (${megabytes(bytes)}) in their homes, backed up beside the running server in ${seconds(backup)} (${megabytes(size)}), verified in ${seconds(verify)};`,
    `server, database and notebooks SIGKILLed, the data folder deleted. Restored in ${seconds(restoredMs)}, server ready after ${seconds(startedMs)}, all notebooks answering after ${seconds(runningMs)}`,
    "with every file (SHA-256), account, order, payment, receipt, ledger line and name as before; 0 broken invariants.",
    `${refused} damaged copies of it and of one without homes (${kindsOfDamage.join(", ")}): all refused in one sentence, nothing changed.`,
  ].join(" ");
  writeProof("restore", `\`npm run prove -- restore --seed ${seed}\`: ${text}`);
  console.log(text);
}

interface Renter extends Customer {
  readonly name: string;
}

async function rentAll(product: Product): Promise<readonly Renter[]> {
  const renters: Renter[] = [];
  for (let n = 0; n < customerCount; n++) {
    const name = `restored-${n}`;
    const customer = { ...(await signUp(product.url)), name };
    const created = await create(product.url, customer, await orderAndPay(product.url, customer, { subdomain: name }));
    assert.equal(created.status, 200, JSON.stringify(created.body));
    renters.push(customer);
    await until(`${name} to answer`, () => labAnswers(product, customer), 120_000);
  }
  for (const home of readdirSync(join(product.dataDir, "homes")).filter((entry) => !entry.startsWith(".")))
    for (let n = 0; n < filesOfHome; n++) {
      const folder = join(product.dataDir, "homes", home, `folder-${n % 7}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `file-${n}`), randomBytes(1 + ((n * 79_190) % longestFile)));
    }
  return renters;
}

/** What must be the same before and after. */
async function observe(product: Product, renters: readonly Renter[]) {
  const files: Record<string, string> = {};
  let bytes = 0;
  const homes = join(product.dataDir, "homes");
  for (const entry of readdirSync(homes, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && /[/]folder-\d$/.test(entry.parentPath)) {
      const path = join(entry.parentPath, entry.name);
      const content = readFileSync(path);
      files[path] = createHash("sha256").update(content).digest("hex");
      bytes += content.length;
    }
  const rows = await withDatabase(product, keptRows);
  const names = await Promise.all(renters.map((renter) => environmentOf(product, renter)));
  return { files, bytes, rows, names: names.map(({ id, subdomain, user_id }) => ({ id, subdomain, user_id })) };
}

/** Times that the passing of time changes are left out. */
async function keptRows(db: Db): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const name of keptTables) {
    const { rows } = await sql<{ row: string }>`
      select (to_jsonb(r) - ${sql.val(["due_at", "lease_token", "lease_expires_at", "attempts", "used_at", "size_mb"])}::text[])::text as row
      from ${sql.table(name)} r order by 1`.execute(db);
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

async function withDatabase<T>(product: Product, work: (db: Db) => Promise<T>): Promise<T> {
  const { db, close } = await openProductDatabase(product);
  try {
    return await work(db);
  } finally {
    await close();
  }
}

function environmentOf(product: Product, { name }: Renter): Promise<RowOf<"environments">> {
  return withDatabase(product, (db) =>
    db.selectFrom("environments").selectAll().where("subdomain", "=", name).executeTakeFirstOrThrow(),
  );
}

/** JupyterLab lists the customer's own files through the gateway; the product's name resolution is not asked. */
async function labAnswers(product: Product, renter: Renter, path = "/api"): Promise<boolean> {
  const { secret, status } = await environmentOf(product, renter);
  if (status !== "active") return false;
  const headers = { host: `${renter.name}.localhost:${product.port}`, authorization: `token ${secret}` };
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const sent = request({ host: "127.0.0.1", port: product.port, path, headers, timeout: 10_000 });
  sent.on("timeout", () => sent.destroy());
  sent.on("error", () => resolve(false));
  sent.on("response", (response) => {
    response.resume();
    resolve(response.statusCode === 200);
  });
  sent.end();
  return await promise;
}

/** The run was killed: it is started again by itself, or by its owner where the rules stopped it. */
async function runAgain(product: Product, renter: Renter): Promise<void> {
  await until(
    `${renter.name} to answer again`,
    async () => {
      if ((await environmentOf(product, renter)).status === "stopped") await restart(product, renter);
      return await labAnswers(product, renter, "/api/contents/folder-1/file-1?content=0");
    },
    180_000,
  );
}

async function restart(product: Product, renter: Renter): Promise<void> {
  const { id } = await environmentOf(product, renter);
  const { idToken: token } = (await signIn(product, renter)).body;
  await send(product.url, "POST", `/docker/restart_container/${id}/${renter.userId}`, { token });
}

/** With the old password: the keys of sign-ins are derived from the restored secret. */
function signIn({ url }: Product, { email, password }: Customer) {
  const body = { email, password, returnSecureToken: true };
  return send(url, "POST", "/identity/v1/accounts:signInWithPassword?key=local", { body });
}

async function operate(dataDir: string, ...words: string[]): Promise<void> {
  const env = { ...environment.shell, DATA_DIR: dataDir, RUNTIMES_DIR: toolsDir };
  await promisify(execFile)(process.execPath, [builtOperator, ...words], { env });
}

async function timed(work: () => Promise<void>): Promise<number> {
  const fromMs = Date.now();
  await work();
  return Date.now() - fromMs;
}
