import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { readConfig } from "../../server/src/config/config.ts";
import { readSettingsFile } from "../../server/src/config/settings-file.ts";
import { newId } from "../../server/src/database/new-id.ts";
import { credits, orders, payments } from "./money-scenes.ts";
import type { Shop } from "./open-shop.ts";
import type { Operate, Scene, SetScene } from "./scene.ts";

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
export const pageScenes: Readonly<Record<string, SetScene>> = {
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
