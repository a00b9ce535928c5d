import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Db } from "../database/database.ts";
import { openDatabase } from "../database/database.ts";
import { embeddedConnection } from "../database/embedded/embedded.ts";
import { removeRuns, whyNoCatalogue } from "../drivers/testing/docker-machine.ts";
import { openKubernetesMachine, whyNoKubernetes } from "../drivers/testing/kubernetes-machine.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { builtOperator } from "../testing/built-programs.ts";
import { injectOverHttp } from "../testing/inject-over-http.ts";
import { dataFolder, start } from "../testing/server-process.ts";
import { customers } from "../testing/test-app.ts";

vi.setConfig({ testTimeout: 300_000 });

const absent = (await whyNoKubernetes()) ?? (await whyNoCatalogue());
const longWait = { timeout: 120_000, interval: 100 };

/** An installation whose own machine is a Docker Engine, with one slot there, and its operator. */
async function setup() {
  const machine = await openKubernetesMachine();
  onTestFinished(() => machine.close());
  const folder = dataFolder();
  const kubeconfig = join(folder, "hosts", "pods", "kubeconfig");
  mkdirSync(join(folder, "hosts", "pods"), { recursive: true });
  copyFileSync(machine.optionsOf().kubeconfig ?? "", kubeconfig);
  const env = {
    ...{ DATA_DIR: folder, RUNTIME: "docker", SLOTS: "1", ORDERS_PER_MINUTE: "1000" },
    ...{ KUBERNETES_IMAGES: "jupyter=docker.io/berth/jupyter:local", KUBERNETES_CLIENTS: "0.0.0.0/0" },
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  };
  return {
    address: `kubernetes://${machine.cluster.namespace}`,
    /** `npm run operator -- hosts ...`, beside the running product. */
    async hosts(...words: string[]): Promise<string> {
      const run = promisify(execFile)(process.execPath, [builtOperator, "hosts", ...words], { env });
      const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
      return (stdout || stderr).trim();
    },
    async open() {
      const product = start(env);
      const url = await product.url();
      return { ...product, ...customers(injectOverHttp(url)), port: Number(new URL(url).port) };
    },
    async database(): Promise<Db> {
      const connection = embeddedConnection(join(folder, "database"));
      const { db, close } = await openDatabase(connection, silentLogger, { keep: true });
      onTestFinished(close);
      return db;
    },
  };
}

interface Lab {
  readonly port: number;
  readonly subdomain: string;
  readonly token: string;
}

/** The content of a file, through the gateway. */
async function file({ port, subdomain, token }: Lab, method: "GET" | "PUT", content?: string): Promise<string> {
  const body = content === undefined ? "" : JSON.stringify({ type: "file", format: "text", content });
  const headers = { host: `${subdomain}.localhost:${port}`, authorization: `token ${token}` };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request({
    ...{ host: "127.0.0.1", port, path: "/api/contents/kept.txt", method, agent: false },
    headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
  });
  sent.on("error", reject).on("response", (reply) => text(reply).then(resolve, reject));
  sent.end(body);
  const reply = JSON.parse(await promise);
  expect(reply.name, `${method} kept.txt of ${subdomain}: ${JSON.stringify(reply)}`).toBe("kept.txt");
  return reply.content;
}

type Opened = Awaited<ReturnType<Awaited<ReturnType<typeof setup>>["open"]>>;

/** A customer who has paid for an environment of one GPU or slot. */
async function renter({ port, signUp, order, pay, must }: Opened, db: Db, subdomain: string) {
  const user = await signUp(subdomain);
  const change = { subdomain, gpu_count: 1 } as const;
  const payment_data = await pay(await order(user, change));
  const container_request = { user_id: user.id, container_type: "jupyter", duration: 1, ...change };
  const row = () =>
    db.selectFrom("environments").selectAll().where("subdomain", "=", subdomain).executeTakeFirstOrThrow();
  const reach = (status: string) => expect.poll(async () => (await row()).status, longWait).toBe(status);
  const act = async (action: string) =>
    await must("POST", `/docker/${action}_container/${(await row()).id}/${user.id}`, user.token, {});
  const lab = async () => ({ port, subdomain, token: (await row()).secret });
  return {
    hostOf: async () => (await row()).host_id,
    /** Waits for the environment, and writes a file there. */
    async write() {
      await must("POST", "/docker/environment/create", user.token, { container_request, payment_data });
      await reach("active");
      await file(await lab(), "PUT", `of ${subdomain}`);
    },
    content: async () => await file(await lab(), "GET"),
    async stop() {
      await act("stop");
      await reach("stopped");
    },
    async start() {
      await act("start");
      await reach("active");
    },
  };
}

describe.skipIf(absent)(
  absent ? `a cluster beside Docker, skipped because ${absent}` : "a cluster beside Docker",
  () => {
    test("G207 both are rented in one installation, and files move from each to the other with their environments", async () => {
      const { address, hosts, open, database } = await setup();
      const before = await open();
      const added = await hosts("add", "pods", address);
      expect(added).toMatch(/^pods can be used: .*\npods is added; a running server rents on it after its next start$/);
      before.child.kill("SIGTERM");
      await before.ended;

      const product = await open();
      const db = await database();
      const { id: install } = await db.selectFrom("installation").select("id").executeTakeFirstOrThrow();
      // The other way round it would start them again.
      onTestFinished(async () => {
        product.child.kill("SIGKILL");
        await product.ended;
        await removeRuns(install);
      });
      await expect.poll(() => hosts("list"), longWait).toMatch(/^pods kubernetes at \S+: [1-9]\d* GPUs?, /m);
      const images = db.selectFrom("host_images").where("container_type", "=", "jupyter").where("state", "=", "ready");
      await expect.poll(async () => (await images.select("host_id").execute()).length, longWait).toBe(2);

      const ann = await renter(product, db, "on-docker");
      const bob = await renter(product, db, "on-pods");
      await Promise.all([ann, bob].map((each) => each.write()));
      expect([await ann.hostOf(), await bob.hostOf()]).toEqual(["local", "pods"]);
      await Promise.all([ann, bob].map((each) => each.stop()));

      expect(await hosts("drain", "local", "--move")).toContain("local takes no new environments");
      await expect.poll(ann.hostOf, longWait).toBe("pods");
      await ann.start();
      expect(await ann.content()).toBe("of on-docker");

      expect(await hosts("undrain", "local")).toBe("local takes environments again");
      expect(await hosts("drain", "pods", "--move")).toContain("pods takes no new environments");
      await expect.poll(bob.hostOf, longWait).toBe("local");
      await bob.start();
      expect(await bob.content()).toBe("of on-pods");
      expect(await ann.content()).toBe("of on-docker");
    });
  },
);
