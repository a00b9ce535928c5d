import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { readConfig } from "../../server/src/config/config.ts";
import { readSettingsFile } from "../../server/src/config/settings-file.ts";
import { newId } from "../../server/src/database/new-id.ts";
import { send } from "../../testing/customer.ts";
import type { Rented, Shop } from "./open-shop.ts";

/** What a page takes for granted. */
interface Scene {
  /** Placeholders of the page and what they stand for; read before each command. */
  readonly values?: () => readonly (readonly [placeholder: string, value: string])[];
  readonly env?: Readonly<Record<string, string>>;
  /** What must hold after the last command. */
  readonly after?: () => Promise<void>;
}

/** Runs a command of the fixture, as an operator would. */
type Operate = (command: string) => Promise<string>;

const ada = "ada@uni.example";

async function accounts(shop: Shop, operate: Operate): Promise<Scene> {
  const { userId } = await shop.signUp(ada);
  // The page's own warning is the second one.
  await operate(`npm run operator -- users warn ${ada} --reason "Scans of other networks"`);
  const acts = async () =>
    (await shop.db.selectFrom("audit").select("act").where("subject_id", "=", userId).orderBy("id").execute()).map(
      ({ act }) => act,
    );
  return {
    after: async () => {
      expect(await acts()).toEqual(
        ["warn", "warn", "suspend", "lift", "reset_link", "export", "delete"].map((act) => `user.${act}`),
      );
      expect(readFileSync(join(shop.folder, "home", "ada.json"), "utf8")).toContain(userId);
      expect(await shop.db.selectFrom("profiles").select("email").where("email", "=", ada).execute()).toEqual([]);
    },
  };
}

async function audit(shop: Shop, operate: Operate): Promise<Scene> {
  const [, head = ""] = /([0-9a-f]{64})/.exec(await operate("berth audit verify")) ?? [];
  const completion = join(shop.folder, "home/.local/share/bash-completion/completions/berth");
  return {
    values: () => [["0f5d...", head]],
    after: async () => expect(readFileSync(completion, "utf8")).toContain("_berth"),
  };
}

async function credits(shop: Shop, operate: Operate): Promise<Scene> {
  await shop.signUp(ada);
  const [id = ""] = /\w{25}$/.exec(await operate(`npm run operator -- credits grant ${ada} 1 --reason Test`)) ?? [];
  await operate("npm run operator -- vouchers create --hours 1 --count 1 --reason Test");
  const [kind = ""] = /\b\w{25}\b/.exec(await operate("npm run operator -- vouchers list")) ?? [];
  const codes = () =>
    readFileSync(join(shop.folder, "home", "codes.txt"), "utf8")
      .trim()
      .split("\n");
  const code = () => (existsSync(join(shop.folder, "home", "codes.txt")) ? (codes()[0] ?? "") : "");
  return {
    values: () => [
      ["a1b2c3d4e5f6g7h8j9k0m1n2p", id],
      ["p2n1m0k9j8h7g6f5e4d3c2b1a", kind],
      ["7K3MQ-0T9W2-MZP7X-K4Q0T", code()],
      ["2027-06-30", `${new Date().getUTCFullYear() + 1}-06-30`],
    ],
    after: async () => {
      expect(codes()).toHaveLength(30);
      const rows = await shop.db.selectFrom("vouchers").select("revoked_at").execute();
      expect(rows.filter(({ revoked_at }) => revoked_at !== null)).toHaveLength(1);
      const granted = await shop.db.selectFrom("granted_credits").select(["gpu_hours", "revoked_at"]).execute();
      expect(granted).toEqual(
        expect.arrayContaining([
          { gpu_hours: 20, revoked_at: null },
          { gpu_hours: 1, revoked_at: expect.any(Date) },
        ]),
      );
    },
  };
}

/** A host beside the server's own, which nobody reaches and nothing lies on. */
async function hosts({ db }: Shop): Promise<Scene> {
  const far = { address: "ssh://berth@10.0.0.5", home_root: "/var/lib/berth/homes", reach: "10.0.0.5" };
  await db
    .insertInto("hosts")
    .values({ id: "gpu-1", kind: "docker", ...far })
    .execute();
  return {
    after: async () => {
      const host = db.selectFrom("hosts").select(["drained_at", "moving_since"]).where("id", "=", "gpu-1");
      expect(await host.execute()).toEqual([{ drained_at: expect.any(Date), moving_since: null }]);
      await db.deleteFrom("hosts").where("id", "=", "gpu-1").execute();
    },
  };
}

async function mining(shop: Shop): Promise<Scene> {
  const customer = await shop.signUp("miner@uni.example");
  const { environmentId: environment_id } = await shop.rent(customer, "a-mine");
  const finding = { id: newId(), environment_id, user_id: customer.userId, generation: 1, kind: "gpu" as const };
  const evidence = JSON.stringify({ what: "its GPUs are at 100 % for an hour", commands: [] });
  await shop.db
    .insertInto("mining_findings")
    .values({ ...finding, evidence })
    .execute();
  return {
    values: () => [
      ["a1b2c3d4e5f6g7h8j9k0m1n2p", environment_id],
      ["b2c3d4e5f6g7h8j9k0m1n2p3q", finding.id],
    ],
    after: async () => {
      const rows = await shop.db.selectFrom("mining_findings").select("dismissed_at").execute();
      expect(rows).toEqual([{ dismissed_at: expect.any(Date) }]);
    },
  };
}

async function backup({ folder }: Shop): Promise<Scene> {
  const places = join(folder, "var/lib/berth-backups");
  mkdirSync(places, { recursive: true });
  return { after: async () => expect(globSync("berth-*.tar.gz", { cwd: places })).not.toEqual([]) };
}

async function monitor({ metricsPort }: Shop): Promise<Scene> {
  return { values: () => [["9464", String(metricsPort)]] };
}

/** What the pages before it on the way have made. */
async function install({ folder }: Shop): Promise<Scene> {
  const made = ["docker", "systemd/system", "nginx/conf.d", "caddy", "berth", "letsencrypt/live/berth.example"];
  for (const path of made) mkdirSync(join(folder, "etc", path), { recursive: true });
  const deploy = join(folder, "opt/berth/deploy");
  for (const path of [dirname(deploy), join(folder, "usr/local/bin"), join(folder, "var/lib/berth-backups")])
    mkdirSync(path, { recursive: true });
  if (!existsSync(deploy)) symlinkSync(join(import.meta.dirname, "../../deploy"), deploy);
  const settings = join(folder, "etc/berth/berth.env");
  return {
    env: { BERTH_APP: "berth.example", BERTH_RUN: "berth-run.example" },
    after: async () => {
      if (!existsSync(settings)) return;
      const { variables, warnings } = readSettingsFile({ ENV_FILE: settings });
      expect(warnings).toEqual([]);
      expect(readConfig(variables)).toMatchObject({ appUrl: "https://berth.example" });
    },
  };
}

async function orders(shop: Shop): Promise<Scene> {
  const customer = await shop.signUp("renter@uni.example");
  const { environmentId, orderId, gatewayOrderId } = await shop.rent(customer, "my-lab");
  // The page ends the first one before it announces something to those who rent.
  await shop.rent(customer, "my-other-lab");
  const { number } = await shop.db.selectFrom("receipts").select("number").executeTakeFirstOrThrow();
  const { id: host } = await shop.db.selectFrom("hosts").select("id").executeTakeFirstOrThrow();
  const ticket = await ticketOf(shop, customer);
  const titles = async () =>
    (await shop.db.selectFrom("notifications").select("title").where("user_id", "=", customer.userId).execute()).map(
      ({ title }) => title,
    );
  return {
    values: () => [
      ["INV-8k2mq0x7v1c", number],
      ["order_Nw7Xb2kQz1", gatewayOrderId],
      ["a1b2c3d4e5f6g7h8j9k0m1n2p", environmentId],
      ["BRT-a1b2c3-4567", ticket],
      ["--host gpu-1", `--host ${host}`],
    ],
    after: async () => {
      await expect
        .poll(() => shop.db.selectFrom("environments").select("status").where("order_id", "=", orderId).execute())
        .toEqual([{ status: "terminated" }]);
      // The worker sends announcements.
      await expect.poll(titles).toEqual(expect.arrayContaining(["Maintenance", `An answer to ${ticket}`]));
    },
  };
}

async function ticketOf({ product }: Shop, { userId, email, idToken }: Awaited<ReturnType<Shop["signUp"]>>) {
  const description = "It does not start.";
  const body = { issueType: "other", description, userEmail: email, userId };
  return String((await send(product.url, "POST", "/support/tickets", { token: idToken, body })).body.ticketId);
}

async function payments(shop: Shop): Promise<Scene> {
  const customer = await shop.signUp("payer@uni.example");
  const [granted, declined] = [await shop.rent(customer, "granted"), await shop.rent(customer, "declined")];
  for (const { orderId } of [granted, declined]) await askForRefund(shop, customer.idToken, orderId);
  await hold(shop, customer.userId, declined);
  return {
    values: () => [
      ["rzp_test_...", "rzp_test_0000000000"],
      ["_SECRET=...", "_SECRET=words"],
      ["decline ORDER", `decline ${declined.orderId}`],
      ["ORDER", granted.orderId],
      ["unflag USER", `unflag ${customer.userId}`],
    ],
    after: async () => {
      const rows = await shop.db.selectFrom("refund_requests").select(["order_id", "status"]).execute();
      expect(new Map(rows.map(({ order_id, status }) => [order_id, status]))).toEqual(
        new Map([
          [granted.orderId, "granted"],
          [declined.orderId, "declined"],
        ]),
      );
      expect(await shop.db.selectFrom("account_holds").selectAll().where("lifted_at", "is", null).execute()).toEqual(
        [],
      );
    },
  };
}

async function askForRefund({ product }: Shop, token: string, orderId: string): Promise<void> {
  const body = { reason: "other", text: "It was not what I expected." };
  const { status } = await send(product.url, "POST", `/orders/${orderId}/refund-request`, { token, body });
  expect(status).toBe(200);
}

/** As after a lost dispute. */
async function hold({ db }: Shop, user_id: string, { orderId }: Rented): Promise<void> {
  const { id: payment_id } = await db
    .selectFrom("payments")
    .select("id")
    .where("order_id", "=", orderId)
    .executeTakeFirstOrThrow();
  const at = new Date();
  const amounts = { amount_minor: 1, lost_minor: 1, counted_minor: 1, currency: "USD" };
  const dispute = { id: "lost", gateway: "embedded", gateway_dispute_id: "disp_lost", phase: "chargeback", ...amounts };
  await db
    .insertInto("disputes")
    .values({ ...dispute, payment_id, user_id, status: "lost", created_at: at, closed_at: at })
    .execute();
  await db.insertInto("account_holds").values({ user_id, dispute_id: "lost" }).execute();
}

async function logs({ folder, product }: Shop): Promise<Scene> {
  const lines = product.output().split("\n");
  writeFileSync(join(folder, "home/berth.log"), lines.filter((line) => line.startsWith("{")).join("\n"));
  // It follows the file for ever.
  return { values: () => [["tail -f", "tail"]] };
}

async function files({ folder }: Shop): Promise<Scene> {
  const served = join(folder, "served");
  mkdirSync(join(served, "project.git/objects"), { recursive: true });
  mkdirSync(join(served, "project.git/refs"));
  writeFileSync(join(served, "project.git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(served, "data.zip"), "data");
  return {
    values: () => [["https://example.com/", `file://${served}/`]],
    after: async () => expect(globSync("{data.zip,project/.git/HEAD}", { cwd: join(folder, "home") })).toHaveLength(2),
  };
}

/** The page's own lines of Python as the program, which goes on after its shell has ended. */
async function output({ folder }: Shop): Promise<Scene> {
  const page = readFileSync(join(import.meta.dirname, "../../docs/use/output.md"), "utf8");
  const [, program = ""] = /^```python\n(.*?)^```/ms.exec(page) ?? [];
  const home = join(folder, "home");
  writeFileSync(join(home, "train.py"), `${program}print("done")\n`);
  writeFileSync(join(home, "output.log"), "");
  const read = (file: string) => (existsSync(join(home, file)) ? readFileSync(join(home, file), "utf8") : "");
  return {
    after: async () => {
      await expect.poll(() => read("output.log"), { timeout: 60_000 }).toContain("done\n");
      expect(read("train.log")).toMatch(
        /epoch 0, loss 1\.000\n[^\n]*epoch 1, loss 0\.500\n[^\n]*epoch 2, loss 0\.333\n$/,
      );
    },
  };
}

async function scripts(shop: Shop): Promise<Scene> {
  const { secret } = await shop.rent(await shop.signUp("script@uni.example"), "my-first");
  return {
    values: () => [
      ["https://my-first.env.example", shop.product.environmentUrl("my-first")],
      // What the fake driver runs has a part of JupyterLab only.
      ["/api/status", "/api/kernels"],
      ["/api/contents", "/api/kernels"],
    ],
    env: { PASSWORD: secret },
  };
}

async function api(shop: Shop, email: string): Promise<Scene> {
  const { idToken, refreshToken } = await shop.signUp(email);
  return {
    values: () => [
      ["https://berth.example", shop.product.url],
      // The stream goes on for minutes.
      ["curl -sN", "curl -sN --max-time 1"],
    ],
    env: { ID_TOKEN: idToken, REFRESH_TOKEN: refreshToken },
  };
}

/** By page. A page without one needs no more than a started product. */
export const pageScenes: Readonly<Record<string, (shop: Shop, operate: Operate) => Promise<Scene>>> = {
  "docs/operate/accounts.md": accounts,
  "docs/operate/audit.md": audit,
  "docs/operate/backup.md": backup,
  "docs/operate/credits.md": credits,
  "docs/operate/hosts.md": hosts,
  "docs/operate/install.md": install,
  "docs/operate/logs.md": logs,
  "docs/operate/mining.md": mining,
  "docs/operate/monitor.md": monitor,
  "docs/operate/orders.md": orders,
  "docs/operate/payments.md": payments,
  "docs/operate/tls.md": install,
  "docs/operate/upgrade.md": install,
  "docs/use/files.md": files,
  "docs/use/output.md": output,
  "docs/use/scripts.md": scripts,
  "docs/develop/conventions.md": (shop) => api(shop, "events@example.com"),
  "docs/develop/signing-in.md": (shop) => api(shop, "ada@example.com"),
};
