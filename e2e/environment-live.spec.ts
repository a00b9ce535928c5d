import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { sql } from "kysely";
import type { Database } from "../server/src/database/database.ts";
import { create, must, orderAndPay } from "../testing/customer.ts";
import { type Detail, openPart, region } from "./testing/environment-page.ts";
import { expect, test } from "./testing/test.ts";
import { checkScreen } from "./testing/viewports.ts";

/** A guest opens a share link in another browser, and loses access when it is revoked (G50). */
async function sharesWithGuest(page: Page, whileOpen: () => Promise<void>): Promise<void> {
  await openPart(page, "Share");
  await page.getByRole("radio", { name: "1 hour" }).last().check({ force: true });
  await page.getByRole("button", { name: "Make a link" }).click();
  await page.getByRole("button", { name: "copy share link" }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const guest = await (await page.context().browser()?.newContext())?.newPage();
  if (!guest) throw new Error("no second browser context");
  await guest.goto(link);
  await expect(guest.getByRole("heading", { name: /^Ada Park shares this environment with you$/ })).toBeVisible();
  await checkScreen(guest, "gateway-share");
  await guest.getByRole("button", { name: "Open JupyterLab" }).click();
  await guest.waitForURL(/\/lab/);
  expect(guest.url()).not.toContain("key=");
  await expect(guest.getByRole("tab", { name: "Launcher" })).toBeVisible({ timeout: 30_000 });
  await whileOpen();
  await expect(region(page, "Share").getByText("1 view")).toBeVisible();
  await page.getByRole("button", { name: /^Revoke the link made/ }).click();
  await expect(region(page, "Share").getByRole("table")).toHaveCount(0);
  await guest.goto(link);
  await expect(guest.getByRole("heading", { name: "This link no longer works" })).toBeVisible();
  await guest.context().close();
}

/** What a client and a machine need for SSH; Debian's openssh-client and openssh-server. */
const lacksSsh = ["/usr/bin/ssh", "/usr/sbin/sshd"].filter((program) => !existsSync(program));

/** Adds a key from the page's own link, and connects by OpenSSH with the config and the host keys that the page shows (G413). */
async function connectsBySsh(page: Page, subdomain: string): Promise<void> {
  await openPart(page, "Access");
  const ssh = region(page, "SSH");
  const folder = mkdtempSync(join(tmpdir(), "berth-ssh-"));
  const key = join(folder, "key");
  execFileSync("/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "ada@laptop", "-f", key]);
  await ssh.getByRole("link", { name: "Add an SSH key" }).click();
  await page.getByLabel("Public key").fill(readFileSync(`${key}.pub`, "utf8"));
  await page.getByRole("button", { name: "Add key" }).click();
  await expect(region(page, "Your keys").getByRole("listitem")).toContainText("ada@laptop");
  await page.goBack();
  const copied = async (name: RegExp) => {
    await ssh.getByRole("button", { name }).click();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const [config, known] = [join(folder, "config"), join(folder, "known_hosts")];
  const own = `Host *\n  IdentityFile ${key}\n  IdentitiesOnly yes\n  UserKnownHostsFile ${known}\n  StrictHostKeyChecking yes\n`;
  writeFileSync(config, (await copied(/~\/\.ssh\/config$/)) + own);
  writeFileSync(known, `${await copied(/known_hosts$/)}\n`);
  const [, ...typed] = (await copied(/In a terminal$/)).split(" ");
  for (const way of [typed, [`${subdomain}.berth`]]) {
    const words = ["-F", config, ...way, "echo in the home of $(basename $HOME)"];
    const { stdout } = await promisify(execFile)("/usr/bin/ssh", words, { timeout: 60_000 });
    expect(stdout).toMatch(/^in the home of \w+\n$/);
  }
  rmSync(folder, { recursive: true });
}

/** Rotates the password after a confirmation (G109). */
async function rotatesPassword(page: Page, old: string): Promise<void> {
  await openPart(page, "Access");
  const password = region(page, "Jupyter password");
  const draw = password.getByRole("button", { name: "Make a new password" });
  await expect(password.getByText(old)).toBeVisible();
  await draw.click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep the old one" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await draw.click();
  await expect(page.getByRole("dialog")).toContainText("is cut off within 2 seconds");
  await page.getByRole("dialog").getByRole("button", { name: "Make a new password" }).click();
  await expect(password.getByText(old)).toHaveCount(0);
  await expect(password.getByRole("button", { name: /^[0-9a-f]{32}, copy password of / })).toBeVisible();
}

/** Sets the idle stop by keyboard, fails once, waits for the warning, snoozes, and switches it off (docs/internals/runtime.md). */
async function stopsWhenIdle(page: Page, db: Database["db"], environmentId: string): Promise<void> {
  await openPart(page, "Overview");
  const idle = region(page, "Stop when idle");
  const choice = (name: string) => idle.getByRole("radio", { name, exact: true });
  await expect(choice("Off")).toBeChecked();
  await page.route("**/idle-stop", (route) => route.abort());
  await choice("30 min").check({ force: true });
  await expect(idle.getByRole("alert")).toHaveText("Not saved. No answer from the server.");
  await expect(choice("Off")).toBeChecked();
  await page.unroute("**/idle-stop");
  await choice("Off").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(idle.getByRole("status")).toHaveText("Saved");
  await expect(choice("1 h")).toBeChecked();
  await expect(idle.getByText("Busy now.")).toBeVisible();
  await sql`
    with due as (update environments set due_at = now() where id = ${environmentId} returning id)
    update activity set last_busy_at = now() - interval '51 minutes' from due where environment_id = due.id`.execute(
    db,
  );
  const warning = page.getByText(/ is idle and stops /);
  await expect(warning, "the warning arrives without a reload").toBeVisible({ timeout: 30_000 });
  // The page's clock ticks once a minute.
  await expect(idle.getByText(/^Idle for 5[0-2]m\.$/)).toBeVisible();
  await page.getByRole("button", { name: "Snooze 1 hour" }).click();
  await expect(warning).toHaveCount(0);
  await expect(idle.getByText(/^Snoozed until /)).toBeVisible();
  await choice("Off").check({ force: true });
  await expect(idle.getByText(/^Snoozed until /)).toHaveCount(0);
}

/** Switches the done notice on by keyboard, with the stop and without, fails once, and is switched off by the notice (G360). */
async function tellsWhenDone(page: Page, db: Database["db"], environmentId: string): Promise<void> {
  const done = region(page, "Tell me when it is done");
  const tell = done.getByRole("switch", { name: "Tell me when nothing runs any more" });
  const stop = done.getByRole("switch", { name: "and stop then" });
  await expect(tell).not.toBeChecked();
  await expect(stop).toHaveCount(0);
  await page.route("**/done-notice", (route) => route.abort());
  await tell.focus();
  await page.keyboard.press("Space");
  await expect(done.getByRole("alert")).toHaveText("Not saved. No answer from the server.");
  await expect(tell).not.toBeChecked();
  await page.unroute("**/done-notice");
  await page.keyboard.press("Space");
  await expect(done.getByRole("status")).toHaveText("It waits for a first cell or program to run.");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await expect(stop).toBeChecked();
  await page.keyboard.press("Space");
  await expect(stop).not.toBeChecked();
  await checkScreen(page, "environment-done");
  await sql`update environments set done_ran = true where id = ${environmentId}`.execute(db);
  await expect(done.getByRole("status")).toHaveText("Something has run: it waits for its end.");
  // As the notice leaves it.
  await sql`update environments set done_notice = null, done_ran = false where id = ${environmentId}`.execute(db);
  await expect(tell, "without a reload").not.toBeChecked();
}

/** JupyterLab in an untouched browser polls every ten seconds and must still count as idle. */
async function staysIdle(db: Database["db"], environmentId: string): Promise<void> {
  const idleSeconds = async () => {
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from looked_at - last_busy_at)::float8 as seconds from activity
      where environment_id = ${environmentId}`.execute(db);
    return rows[0]?.seconds;
  };
  await expect.poll(idleSeconds, { timeout: 90_000 }).toBeGreaterThan(14);
}

test("an environment's page opens from the list and shows live status, logs, references and the end (G32, G70, G86)", async ({
  page,
  product,
  database: { db },
  customer,
}) => {
  test.setTimeout(180_000);
  const subdomain = `page-${Date.now().toString(36)}`;
  const paid = await orderAndPay(product.url, customer, { subdomain, gpuCount: 1, duration: 24 });
  const { environment_id } = (await create(product.url, customer, paid)).body;
  const row = { environment_id, span_seconds: 60 as const, at: new Date(Date.now() - 300_000), looks: 4 };
  await db
    .insertInto("samples")
    .values({ ...row, cpu_cores: 0.25, memory_mb: 123.4, home_mb: 5 })
    .execute();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/environments");
  await page.getByRole("link", { name: subdomain, exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/environments/${environment_id}$`));
  await expect(page).toHaveTitle(new RegExp(`^Environment ${subdomain} `));
  await expect(page.getByRole("heading", { name: "Environment", exact: true })).toBeVisible();

  await openPart(page, "Use");
  await expect(page.getByRole("img", { name: "CPU: 0.25 cores now, at most 0.25 cores" })).toBeVisible();
  await openPart(page, "Logs");
  await expect(region(page, "Lines of the log")).toContainText(/Jupyter Server [\d.]+ is running/);
  await openPart(page, "Overview");
  await expect(region(page, "Last start").getByRole("listitem").last()).toContainText(
    /Answers at its address\+\d+\.\d s/,
  );
  const detail = (await must(product.url, "GET", `/environments/${environment_id}`, { token: customer.idToken }))
    .environment as Detail;
  const copied = async (name: string) => {
    await page.getByRole("button", { name }).click();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  expect(await copied("copy session ID")).toBe(detail.session_id);
  expect(await copied("copy environment ID")).toBe(environment_id);
  expect(await copied("copy payment reference")).toBe(detail.payment_reference);
  expect(await copied("copy receipt number")).toBe(detail.receipts[0]);
  await page.getByRole("button", { name: "Jupyter password" }).click();
  expect(await copied(`copy Jupyter password of ${subdomain}`)).toBe(detail.jupyter_token);
  await page.keyboard.press("Escape");
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download files" }).click();
  expect((await saved).suggestedFilename()).toBe(`${subdomain}.tar.gz`);

  await page.getByRole("link", { name: "Add time" }).click();
  await expect(page.getByRole("dialog", { name: `Add time to ${subdomain}` })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(new RegExp(`/environments/${environment_id}$`));
  await page.getByRole("link", { name: "Order, payment and receipt" }).click();
  await page.getByRole("link", { name: subdomain }).click();
  await rotatesPassword(page, detail.jupyter_token ?? "");
  await stopsWhenIdle(page, db, environment_id);
  await tellsWhenDone(page, db, environment_id);
  await sharesWithGuest(page, () => staysIdle(db, environment_id));
  // Last, because it is work: the environment is not idle for a while.
  if (lacksSsh.length === 0) await connectsBySsh(page, subdomain);
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByRole("button", { name: "Restart" })).toBeVisible();
  await openPart(page, "Use");
  await expect(page.getByText("Nothing is measured while it does not run.")).toBeVisible();
  await page.getByRole("button", { name: `More actions for ${subdomain}` }).click();
  await page.getByRole("menuitem", { name: "Terminate" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill(subdomain);
  await page.getByRole("dialog").getByRole("button", { name: "Terminate" }).click();
  await expect(page.getByText("Ended by you")).toBeVisible();
  await openPart(page, "Logs");
  await expect(page.getByText("Nothing runs now. The log of a run goes with it.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Jupyter password" })).toHaveCount(0);
});
