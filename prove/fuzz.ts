import { join } from "node:path";
import { openDatabase } from "../server/src/database/database.ts";
import { embeddedConnection } from "../server/src/database/embedded/embedded.ts";
import { silentLogger } from "../server/src/logging/create-logger.ts";
import { readAccount } from "../server/src/payments/embedded-provider/embedded-provider.ts";
import { brokenBytes, exchange } from "../server/src/system-tests/testing/broken-http.ts";
import {
  type FuzzRequest,
  fuzzer,
  type Road,
  roadBeside,
  roadsOf,
  type Sender,
} from "../server/src/system-tests/testing/fuzz-requests.ts";
import { others } from "../server/src/system-tests/testing/other-routes.ts";
import { seeded } from "../server/src/testing/random.ts";
import { type Customer, create, must, orderAndPay, orderBody, signUp } from "../testing/customer.ts";
import { type Product, removeFolder, startProduct } from "../testing/product.ts";
import { type Memory, memoryOf } from "./fuzz/memory.ts";
import { runSchemathesis } from "./fuzz/schemathesis.ts";
import { sendRaw } from "./fuzz/send-raw.ts";
import { thisRun, writeProof } from "./proof-page.ts";

interface Options {
  readonly seed: number;
  readonly requests: number;
  readonly quick: boolean;
}

const workers = 8;
/** At the memory. */
const looks = 40;
/** One in so many is no HTTP at all, on a connection of its own. */
const shareOfBroken = 0.05;
/** Above what the first quarter needed at most; a leak of 1 kB for each request would be 75 MB. */
const mostGrowthMb = 64;

const env = {
  RUNTIME: "fake",
  UNAUTHENTICATED_PER_MINUTE: "1000000",
  SIGN_INS_PER_MINUTE: "1000000",
  RESET_MAILS_PER_HOUR: "1000000",
};

/**
 * Requests of every shape to a started product, whose replies feed later ones, and connections that speak no HTTP; at last
 * Schemathesis, which makes its own from the document alone, unless `quick`. No reply may be a 5xx, the server must live, and
 * its memory must not grow (P8, P14).
 */
export async function proveFuzz({ seed, requests, quick }: Options): Promise<void> {
  console.log(`seed ${seed}`);
  const product = await startProduct({ env });
  try {
    const found = await fuzz(product, { seed, requests });
    console.log(found.text);
    const checked = quick ? "not run" : await runSchemathesis(product, await signUp(product.url), seed);
    await must(product.url, "GET", "/healthz");
    const text = `\`npm run prove -- fuzz --seed ${seed} --requests ${requests}\`: ${found.text} Schemathesis: ${checked}. ${thisRun()}`;
    console.log(text);
    if (found.failures.length > 0) throw new Error(found.failures.join("\n"));
    if (!quick) writeProof("fuzz", text);
  } finally {
    await product.stop();
    removeFolder(product.dataDir);
  }
}

async function fuzz(product: Product, { seed, requests }: Pick<Options, "seed" | "requests">) {
  const random = seeded(seed);
  const basic = await merchantOf(product);
  const streams = ["GET /events"];
  const beside = Object.keys(others).filter((line) => !streams.includes(line));
  const roads = [...roadsOf(await must(product.url, "GET", "/openapi.json")), ...beside.map(roadBeside)];
  const { request, learn } = fuzzer(random, roads);
  const statuses = new Map<string, number>();
  const failures: string[] = [];
  const memory = memoryOf(product.pid);
  let sent = 0;
  const count = (status: string) => statuses.set(status, (statuses.get(status) ?? 0) + 1);

  async function sendBroken(sender: Sender) {
    const bytes = brokenBytes(random, wireOf(request(sender)));
    const answer = await exchange(product.port, bytes);
    count([...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].at(-1)?.[1] ?? "cut");
    if (/^HTTP\/1\.1 5/m.test(answer)) failures.push(`${JSON.stringify(bytes)}\n${answer}`);
  }

  async function worker(): Promise<void> {
    let sender = await newSender(product, basic);
    while (sent++ < requests && failures.length < 5) {
      if (sent % Math.ceil(requests / looks) === 0) console.log(`${sent} sent, ${memory.look().toFixed(0)} MB`);
      if (random.chance(shareOfBroken)) await sendBroken(sender);
      else if (await endsSignIn(sender)) sender = await newSender(product, basic);
    }
  }

  /** Whether the sender has signed out, changed the password or deleted the account with it. */
  async function endsSignIn(sender: Sender): Promise<boolean> {
    const each = request(sender);
    const { status, body } = await sendRaw(product.port, each);
    count(status === 0 ? "cut" : String(status));
    if (status >= 500) failures.push(`${describe(each)}\n${status} ${body}`);
    learn(body);
    return (status === 401 && each.isSignedIn) || each.url.startsWith("/auth/logout");
  }

  await Promise.all(Array.from({ length: workers }, worker));
  return { failures: [...failures, ...grown(memory, requests)], text: textOf(requests, statuses, memory, failures) };
}

function grown(memory: Memory, requests: number): readonly string[] {
  const { first, last } = memory.highest();
  // A short run ends before the caches are full.
  if (requests < 50_000 || last - first <= mostGrowthMb) return [];
  return [`the memory grew from ${first.toFixed(0)} to ${last.toFixed(0)} MB`];
}

function textOf(requests: number, statuses: ReadonlyMap<string, number>, memory: Memory, failures: readonly string[]) {
  const counts = [...statuses].sort(([a], [b]) => a.localeCompare(b)).map(([status, times]) => `${times} ${status}`);
  const { first, last } = memory.highest();
  return `${requests} requests on one process, one in twenty of them broken HTTP; replies: ${counts.join(", ")}; ${failures.length} of 5xx. The server lived; its memory was ${first.toFixed(0)} MB at most in the first quarter and ${last.toFixed(0)} MB in the last.`;
}

async function merchantOf({ dataDir }: Product): Promise<string> {
  const { db, close } = await openDatabase(embeddedConnection(join(dataDir, "database")), silentLogger);
  const { keyId, keySecret } = await readAccount(db);
  await close();
  return `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString("base64")}`;
}

let names = 0;

/** A new customer, with an environment as long as there are GPUs. */
async function newSender({ url }: Product, basic: string): Promise<Sender> {
  const customer = await signUp(url);
  const subdomain = `fuzz-${names++}`;
  const paid = await orderAndPay(url, customer, { subdomain, gpuCount: 1 }).catch(() => undefined);
  const made = paid && (await create(url, customer, paid));
  const environment = made?.body.environment_id ?? subdomain;
  const proof = paid ? Object.values(paid.payment_data) : [];
  return senderOf(customer, basic, [customer.userId, environment, subdomain, ...proof.slice(0, 2)], proof);
}

function senderOf(customer: Customer, basic: string, ids: readonly string[], proof: readonly string[]): Sender {
  return {
    userId: customer.userId,
    ids,
    known: [
      ...[...ids, ...proof, customer.email, customer.password, "free-lab", 0.4, 1, true, "USD", "refresh_token"],
      ...["5555555555554444", "123", "12", "34", customer.refreshToken, customer.idToken],
    ],
    headersFor: ({ path }: Road) => ({
      authorization: path.startsWith("/embedded-gateway") ? basic : `Bearer ${customer.idToken}`,
    }),
    goodBody: ({ path }: Road) =>
      path.endsWith("create_order")
        ? orderBody(customer, { subdomain: `fuzz-order-${names++}`, gpuCount: 1 })
        : undefined,
  };
}

function wireOf({ method, url, headers, payload = "" }: FuzzRequest): string {
  const lines = Object.entries({ host: "localhost", connection: "close", ...headers });
  const length = payload === "" ? "" : `content-length: ${Buffer.byteLength(payload)}\r\n`;
  return `${method} ${url} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}${length}\r\n${payload}`;
}

function describe({ method, url, headers, payload = "" }: FuzzRequest): string {
  return `${method} ${url} ${JSON.stringify(headers)} ${payload.toString().slice(0, 400)}`;
}
