import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openDatabase } from "../database/database.ts";
import { embeddedConnection } from "../database/embedded/embedded.ts";
import { removeRuns, whyNoCatalogue } from "../drivers/testing/docker-machine.ts";
import { filesIn } from "../drivers/testing/drive-run.ts";
import { openEngineProxy } from "../drivers/testing/engine-proxy.ts";
import { openSshd, whyNoSshd } from "../drivers/testing/open-sshd.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { builtOperator } from "../testing/built-programs.ts";
import { injectOverHttp } from "../testing/inject-over-http.ts";
import { dataFolder, start } from "../testing/server-process.ts";
import { customers } from "../testing/test-app.ts";

vi.setConfig({ testTimeout: 180_000 });

const absent = whyNoSshd() ?? (await whyNoCatalogue());

/** The product as its own process with one slot on each host, its operator, and another machine behind SSH. */
async function setup() {
  const folder = dataFolder();
  const far = mkdtempSync(join(tmpdir(), "berth-far-"));
  chmodSync(far, 0o711);
  const sshd = await openSshd();
  const proxy = await openEngineProxy(far);
  sshd.give(proxy.path);
  cpSync(sshd.keysOf("remote"), join(folder, "hosts"), { recursive: true });
  onTestFinished(async () => {
    await proxy.close();
    await sshd.close();
    await rm(far, { recursive: true, force: true });
  });
  const env = { DATA_DIR: folder, SLOTS: "1", ORDERS_PER_MINUTE: "1000" };
  return {
    address: `ssh://${sshd.user}@127.0.0.1:${sshd.port}${proxy.path}`,
    homeRoot: join(far, "homes"),
    away: () => proxy.close(),
    /** `npm run operator -- hosts ...`, beside the running product. */
    async hosts(...words: string[]): Promise<string> {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [builtOperator, "hosts", ...words], {
        env,
      }).catch((error: { stdout: string; stderr: string }) => error);
      return (stdout || stderr).trim();
    },
    async open() {
      const product = start(env);
      const url = await product.url();
      return { ...product, ...customers(injectOverHttp(url)), base: url };
    },
    async database() {
      const { db, close } = await openDatabase(embeddedConnection(join(folder, "database")), silentLogger, {
        keep: true,
      });
      onTestFinished(close);
      return db;
    },
  };
}

describe.skipIf(absent)(absent ? `two hosts, skipped because ${absent}` : "two hosts", () => {
  test("an operator adds a machine; when the first is full the next order goes there, and its files bind it to that host (G39)", async () => {
    const { address, homeRoot, hosts, open, database } = await setup();
    const before = await open();
    expect(await hosts("add", "remote", address, "--home-root", homeRoot, "--reach", "203.0.113.7")).toMatch(
      /^203.0.113.7 is no private address/,
    );
    const added = await hosts("add", "remote", address, "--home-root", homeRoot);
    expect(added).toMatch(/^remote can be used: no GPU, so 1 CPU slot; runs are reached at 127.0.0.1/);
    expect(added).toMatch(/WARNING: it has no firewall: .*hosts firewall remote GATEWAY/);
    expect(added).toMatch(/remote is added; a running server rents on it after its next start$/);
    expect(await hosts("list")).toMatch(/^local fake: 1 CPU slot.*\nremote docker at ssh:\S+: 0 GPUs/);
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
    await expect.poll(() => hosts("list"), { timeout: 60_000 }).toMatch(/remote docker at \S+: 1 CPU slot/);
    await expect.poll(async () => (await product.must("GET", "/capacity")).total).toBe(1);
    const hostOf = async (subdomain: string) =>
      (await db.selectFrom("environments").select("host_id").where("subdomain", "=", subdomain).executeTakeFirst())
        ?.host_id;
    const image = () =>
      db
        .selectFrom("host_images")
        .select("state")
        .where("host_id", "=", "remote")
        .where("container_type", "=", "jupyter")
        .executeTakeFirst();
    await expect.poll(image, { timeout: 60_000 }).toEqual({ state: "ready" });

    const [ann, bob, eve] = [await product.signUp("Ann"), await product.signUp("Bob"), await product.signUp("Eve")];
    const rent = (user: typeof ann, subdomain: string) => product.rent(user, { subdomain, gpu_count: 1 });
    const first = await rent(ann, "first-one");
    const second = await rent(bob, "second-one");
    expect([await hostOf("first-one"), await hostOf("second-one")]).toEqual(["local", "remote"]);
    expect(await hosts("list")).toMatch(/remote docker at \S+: 1 CPU slot, 1 leased, 0 quarantined, 1 environment/);
    expect(await hosts("remove", "remote")).toMatch(
      /^remote still has 1 environment, 1 CPU slot leased and 1 kept home/,
    );

    const act = (user: typeof ann, action: string, id: string) =>
      product.call("POST", `/docker/${action}_container/${id}/${user.id}`, user.token, {});
    const statusOf = async (user: typeof ann, id: string) =>
      (await product.must("GET", `/environments/${id}`, user.token)).environment.status;
    expect((await act(bob, "stop", second.environment_id)).statusCode).toBe(200);
    await expect.poll(() => statusOf(bob, second.environment_id), { timeout: 60_000 }).toBe("stopped");
    const link = await product.must("POST", `/environments/${second.environment_id}/archive`, bob.token, {});
    const archive = await fetch(`${product.base.replace("localhost", "127.0.0.1")}${link.url}`);
    expect((await filesIn(archive.body as AsyncIterable<Uint8Array>)).size).toBeGreaterThan(0);

    await rent(eve, "third-one");
    expect(await hostOf("third-one")).toBe("remote");
    await product.must("POST", `/environments/${first.environment_id}/terminate`, ann.token, { confirm: "first-one" });
    await expect.poll(async () => (await product.must("GET", "/capacity")).free, { timeout: 60_000 }).toBe(1);
    const refused = await act(bob, "start", second.environment_id);
    expect([refused.statusCode, refused.json().error?.code ?? refused.json().code]).toEqual([409, "out_of_stock"]);
  });

  test("an unreachable host blocks nothing: the server starts, logs it once, and uses the host when it is back", async () => {
    const { address, homeRoot, hosts, open, database } = await setup();
    const before = await open();
    const db = await database();
    const bad = address.replace(/127.0.0.1:\d+/, "127.0.0.1:9");
    expect(await hosts("add", "remote", bad, "--home-root", homeRoot)).toMatch(
      /^ssh:\S+ (cannot be reached|is refused)/,
    );
    expect(await hosts("list")).not.toContain("remote");
    await db
      .insertInto("hosts")
      .values({ id: "remote", kind: "docker", address: bad, home_root: homeRoot, reach: "127.0.0.1" })
      .execute();
    before.child.kill("SIGTERM");
    await before.ended;
    const product = await open();
    await expect
      .poll(() => product.logged().find(({ event }) => event === "host.unreachable"), { timeout: 60_000 })
      .toMatchObject({ hostId: "remote", msg: expect.stringMatching(/^ssh:\S+ (cannot be reached|is refused)/) });
    expect(await product.must("GET", "/capacity")).toMatchObject({ total: 1, free: 1 });
    expect(await hosts("remove", "remote")).toBe("remote is removed; a running server notices it at its next start");
    expect(await hosts("check", "remote")).toMatch(/^There is no host remote on another machine/);
  });
});
