import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { signUp, until } from "../prove/customer.ts";
import { type Product, removeFolder, startProduct, temporaryFolder } from "../prove/product.ts";
import { openProductDatabase, seedHistory } from "../prove/seed.ts";
import { drive, end, freePort, installPeer } from "./gateway.ts";
import { median } from "./quantiles.ts";

const peer = "jupyterhub==6.1.1";
const connections = 20;
const repeats = 5;
const forMs = 4000;
const root = join(import.meta.dirname, "..");

interface Read {
  readonly name: string;
  readonly port: number;
  readonly path: string;
  /** Host and credentials, each with its line end. */
  readonly fields: string;
}

/**
 * Authenticated reads of one's own account over 20 connections (reliability.md 3): ours, JupyterHub's, and JupyterHub's as
 * it is used, behind its proxy. All of them stand in the same run and take turns; other reads of ours follow.
 */
export async function run(): Promise<void> {
  const directory = temporaryFolder();
  const started: ChildProcess[] = [];
  const product = await startProduct({ dataDir: join(directory, "ours"), env: { RUNTIME: "fake" } });
  try {
    const hub = await startHub(directory, started);
    const customer = await signUp(product.url);
    await seedHistory(product, customer, { count: 20, prefix: "lab" });
    const fields = `Host: localhost:${product.port}\r\nAuthorization: Bearer ${customer.idToken}\r\n`;
    const ours = (name: string, path: string): Read => ({ name: `ours, ${name}`, port: product.port, path, fields });
    await measure([
      ours("profile", `/profile/${customer.userId}`),
      ...hub,
      ours("billing of 20 payments", `/billing/${customer.userId}`),
      ours("an environment's detail", `/environments/${await environmentOf(product)}`),
      ours("capacity", "/capacity"),
    ]);
  } finally {
    await product.stop();
    await Promise.all(started.map(end));
    removeFolder(directory);
  }
}

async function environmentOf(product: Product): Promise<string> {
  const { db, close } = await openProductDatabase(product);
  const { id } = await db
    .selectFrom("environments")
    .select("id")
    .where("status", "=", "active")
    .limit(1)
    .executeTakeFirstOrThrow();
  await close();
  return id;
}

async function measure(reads: readonly Read[]): Promise<void> {
  console.log(`load of the last minute: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores`);
  const reached = new Map(reads.map(({ name }) => [name, { perSecond: [] as number[], p99Ms: [] as number[] }]));
  const once = async ({ port, path, fields }: Read) =>
    await drive({ kind: "requests", port, visitors: [fields], path, sockets: connections, forMs });
  // Code that runs for the first time is slow in every one of them.
  for (const read of reads) await once(read);
  for (let repeat = 0; repeat < repeats; repeat++)
    for (const read of reads) {
      const { perSecond, p99Ms } = await once(read);
      reached.get(read.name)?.perSecond.push(perSecond);
      reached.get(read.name)?.p99Ms.push(p99Ms);
    }
  const base = median(reached.get(hubName)?.perSecond ?? []);
  console.log(`\n${connections} connections, median of ${repeats} times ${forMs / 1000} s each`);
  console.table(
    [...reached].map(([read, { perSecond, p99Ms }]) => ({
      read,
      "per second": Math.round(median(perSecond)),
      "x hub": (median(perSecond) / base).toFixed(2),
      "p99 ms": median(p99Ms).toFixed(1),
    })),
  );
  console.log(`load of the last minute: ${loadavg()[0]?.toFixed(1)}`);
}

const hubName = "JupyterHub, own account";
const user = "ada";

/** With the settings that it comes with, but for its ports and who may sign in; read directly, and through its proxy. */
async function startHub(directory: string, started: ChildProcess[]): Promise<readonly Read[]> {
  const program = installHub();
  const cwd = join(directory, "hub");
  mkdirSync(cwd);
  const [port, hubPort, apiPort] = [await freePort(), await freePort(), await freePort()];
  const config = `c.JupyterHub.bind_url = "http://127.0.0.1:${port}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:${hubPort}"
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.log_level = 40
c.Authenticator.allowed_users = {"${user}"}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:${apiPort}"
c.ConfigurableHTTPProxy.command = ${JSON.stringify([process.execPath, installPeer(), "--log-level", "error"])}
`;
  writeFileSync(join(cwd, "config.py"), config);
  const token = execFileSync(program, ["token", user, "-f", "config.py"], { cwd, encoding: "utf8" }).trim();
  const hub = spawn(program, ["-f", "config.py"], { cwd, stdio: ["ignore", "ignore", "inherit"] });
  started.push(hub);
  const authorization = `token ${token}`;
  const path = "/hub/api/user";
  for (const at of [hubPort, port])
    await until("JupyterHub", async () => {
      const answer = await fetch(`http://127.0.0.1:${at}${path}`, { headers: { authorization } }).catch(
        () => undefined,
      );
      return answer?.status === 200 && (await answer.json()).name === user;
    });
  const read = (name: string, at: number): Read => {
    return { name, port: at, path, fields: `Host: 127.0.0.1:${at}\r\nAuthorization: ${authorization}\r\n` };
  };
  return [read(hubName, hubPort), read("JupyterHub behind its proxy, own account", port)];
}

/** Into a cache, once; the program's path. */
function installHub(): string {
  const folder = join(root, "node_modules/.cache/berth/hub");
  const [pip, program] = [join(folder, "bin/pip"), join(folder, "bin/jupyterhub")];
  if (!existsSync(program)) {
    execFileSync("python3", ["-m", "venv", folder], { stdio: "inherit" });
    execFileSync(pip, ["install", "--quiet", "--disable-pip-version-check", peer], { stdio: "inherit" });
  }
  return program;
}
