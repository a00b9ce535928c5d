import type { Page } from "@playwright/test";
import { sql } from "kysely";
import type { environmentDetail, ReplyOf, SamplePoint } from "../contract/src/index.ts";
import type { Database } from "../server/src/database/database.ts";
import { create, must, orderAndPay } from "../testing/customer.ts";
import { everyState, inHours } from "./testing/fixtures.ts";
import { expect, test } from "./testing/test.ts";
import { passUntilVisible } from "./testing/toasts.ts";
import { judge } from "./testing/viewports.ts";

type Detail = ReplyOf<typeof environmentDetail>["environment"];

const id = "1a3f9c27b0d4e5a61a3f9c27b";
const running = everyState["1a3f9c27b0d4e5a6"];
const stageOffsets = {
  ordered: -40,
  paid: 0,
  placed: 0.2,
  image: 0.3,
  created: 0.4,
  started: 1.2,
  answering: 5.9,
  ready: 6.8,
};
const stagesOf = (upTo: number, paidAt = inHours(-3)): Detail["stages"] =>
  Object.entries(stageOffsets)
    .slice(0, upTo)
    .map(([stage, seconds]) => ({
      stage: stage as keyof typeof stageOffsets,
      at: new Date(Date.parse(paidAt) + seconds * 1000).toISOString(),
    }));

/** An environment on a machine with two GPUs, three hours old. */
function detailFixture(change: Partial<Detail> = {}): Detail {
  if (!running) throw new Error("no environment to start from");
  return {
    ...running,
    id,
    url: "http://resnet-lab.localhost:3000",
    jupyter_token: "k7dq-mx3a-9wzp-t2vn",
    session_id: "s4kq0t9w2mzp7xk4q0t9w2mzp",
    sessions: [
      { id: "s4kq0t9w2mzp7xk4q0t9w2mzp", opened_at: inHours(-1), closed_at: null, reason: null },
      { id: "r4kq0t9w2mzp7xk4q0t9w2mzp", opened_at: inHours(-3), closed_at: inHours(-1.5), reason: "stopped" },
    ],
    order_id: "9k4q0t9w2mzp7xk4q0t9w2mzp",
    receipts: ["INV-94kq0t9w2mz", "INV-84kq0t9w2mz"],
    payment_reference: "pay_R1x7Qm2Lk9WzTa",
    home_mb: 4210,
    shares: [
      { id: "h4", created_at: inHours(-2), expires_at: inHours(22), views: 3, last_viewed_at: inHours(-1) },
      { id: "h5", created_at: inHours(-30), expires_at: inHours(138), views: 0, last_viewed_at: null },
    ],
    stop_reason: null,
    idle_stop: { minutes: null, stops_at: null, snoozed_until: null, last_busy_at: inHours(-0.4) },
    generation: 2,
    stages: stagesOf(8),
    gpu: { model: "NVIDIA GeForce RTX 4070", memory_mb: 12_282, count: 2 },
    isolation: "container",
    ...change,
  };
}

const wave = (minute: number, of: number) => 0.5 + 0.5 * Math.sin((minute * 2 * Math.PI) / of);
const samples: SamplePoint[] = Array.from({ length: 60 }, (_, minute) => ({
  at: new Date(Date.now() - (60 - minute) * 60_000).toISOString(),
  cpu_cores: 1.2 + 2 * wave(minute, 17),
  memory_mb: 5200 + 70 * minute,
  home_mb: 4100 + 2 * minute,
  received_bytes_per_second: 900_000 * wave(minute, 23),
  sent_bytes_per_second: 48_000 * wave(minute, 11),
  gpus: ["a", "b"].map((gpu, n) => ({ id: gpu, use_percent: 55 + 40 * wave(minute, 9 + n), memory_mb: 9100 })),
})).filter((_, minute) => minute < 25 || minute > 31);

interface Shown {
  readonly environment?: Partial<Detail>;
  readonly points?: readonly SamplePoint[];
  readonly lines?: readonly string[];
}

/** Opens the page with this in place of the server's answers. */
async function show(page: Page, { environment = {}, points = samples, lines = [] }: Shown = {}): Promise<void> {
  const answers: readonly (readonly [string, object])[] = [
    [`**/environments/${id}`, { json: { status: "success", environment: detailFixture(environment) } }],
    [`**/environments/${id}/samples?span=1h`, { json: { status: "success", span: "1h", step_seconds: 60, points } }],
    [
      `**/environments/${id}/logs`,
      {
        contentType: "text/event-stream",
        body: `${lines.map((line) => `data: ${JSON.stringify(line)}\n\n`).join("")}event: over\ndata: {}\n\n`,
      },
    ],
  ];
  for (const [path, answer] of answers) {
    await page.unroute(path);
    await page.route(path, (route) =>
      route.request().resourceType() === "document" ? route.continue() : route.fulfill(answer),
    );
  }
  await page.goto(`/environments/${id}`);
}

/** Somebody without an account opens a link in a browser of their own, and is out when it is revoked (G50). */
async function guestComesAndGoes(page: Page, whileOpen: () => Promise<void>): Promise<void> {
  await page.getByRole("radio", { name: "1 hour" }).last().check({ force: true });
  await page.getByRole("button", { name: "Make a link" }).click();
  await page.getByRole("button", { name: "copy share link" }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const guest = await (await page.context().browser()?.newContext())?.newPage();
  if (!guest) throw new Error("no second browser context");
  await guest.goto(link);
  await expect(guest.getByRole("heading", { name: /^Ada Park shares this environment with you$/ })).toBeVisible();
  await judge(guest, "gateway-share");
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

/** Asked once, with what it ends; then another one stands there (G109). */
async function drawsNewPassword(page: Page, old: string): Promise<void> {
  const password = region(page, "Jupyter password");
  const draw = password.getByRole("button", { name: "Draw a new password" });
  await expect(password.getByText(old)).toBeVisible();
  await draw.click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep the old one" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await draw.click();
  await expect(page.getByRole("dialog")).toContainText("is cut off within 2 seconds");
  await page.getByRole("dialog").getByRole("button", { name: "Draw a new password" }).click();
  await expect(password.getByText(old)).toHaveCount(0);
  await expect(password.getByRole("button", { name: /^[0-9a-f]{32}, copy password of / })).toBeVisible();
}

/** Set by keyboard, refused once, told of on the page, snoozed, and off again (docs/internals/runtime.md). */
async function stopsWhenIdle(page: Page, db: Database["db"], environmentId: string): Promise<void> {
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
  await expect(warning, "told by the worker, without a reload").toBeVisible({ timeout: 30_000 });
  // The page's clock ticks once a minute.
  await expect(idle.getByText(/^Idle for 5[0-2]m\.$/)).toBeVisible();
  await page.getByRole("button", { name: "Snooze 1 hour" }).click();
  await expect(warning).toHaveCount(0);
  await expect(idle.getByText(/^Snoozed until /)).toBeVisible();
  await choice("Off").check({ force: true });
  await expect(idle.getByText(/^Snoozed until /)).toHaveCount(0);
}

/** JupyterLab in a browser that nobody touches looks for news every ten seconds, and is idle all the same. */
async function staysIdle(db: Database["db"], environmentId: string): Promise<void> {
  const idleSeconds = async () => {
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from looked_at - last_busy_at)::float8 as seconds from activity
      where environment_id = ${environmentId}`.execute(db);
    return rows[0]?.seconds;
  };
  await expect.poll(idleSeconds, { timeout: 90_000 }).toBeGreaterThan(25);
}

const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

test("what stopped by itself says why, and a silent one can be started without its settings (G106, G111)", async ({
  page,
  customer,
}) => {
  expect(customer).toBeDefined();
  const stopped = { ...everyState["4d3f9c27b0d4e5a6"], id };
  await show(page, { environment: { ...stopped, stop_reason: "no_home" } });
  await expect(page.getByText(/^The files of .* are not there$/)).toBeVisible();
  await show(page, { environment: { ...stopped, stop_reason: "silent" } });
  await expect(page.getByText("JupyterLab did not answer", { exact: true })).toBeVisible();
  await page.route(`**/environments/${id}/start`, (route) => route.fulfill({ json: { status: "success" } }));
  const asked = page.waitForRequest(`**/environments/${id}/start`);
  await page.getByRole("button", { name: "Start without my settings" }).click();
  expect((await asked).postDataJSON()).toEqual({ without_settings: true });
});

test("an environment's page is accessible in all four rooms, in every state (G33, G37, G70)", async ({
  page,
  customer,
}) => {
  test.setTimeout(120_000);
  const lines = Array.from({ length: 40 }, (_, n) => `[I 2026-11-20 14:52:${10 + n}.412 ServerApp] line ${n + 1}`);
  await show(page, { lines });
  await expect(page.getByRole("img", { name: /^GPU: GPU 1 \d+%, GPU 2 \d+% now/ })).toBeVisible();
  await expect(region(page, "Lines of the log")).toContainText("line 40");
  await judge(page, "environment");
  await page.getByRole("button", { name: "Draw a new password" }).click();
  await judge(page, "environment-new-password", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Escape");
  const idle = { minutes: 60, stops_at: inHours(0.15), snoozed_until: null, last_busy_at: inHours(-0.85) } as const;
  await show(page, { environment: { idle_stop: idle } });
  await expect(page.getByText(/ is idle and stops /)).toBeVisible();
  await judge(page, "environment-idle");
  await show(page, { points: [], environment: { gpu: null, isolation: "bubblewrap", sessions: [] } });
  await expect(region(page, "Use").getByText("N/A")).toHaveCount(6);
  await expect(region(page, "Use").getByText("CPU only (no GPU on this machine)")).toHaveCount(2);
  await judge(page, "environment-nothing-measured");
  const first = { sessions: [], session_id: null, home_mb: null, receipts: ["INV-94kq0t9w2mz"], generation: 1 };
  const { created_at, ...pending } = everyState["5e3f9c27b0d4e5a6"] ?? detailFixture();
  await show(page, { points: [], environment: { ...pending, ...first, created_at, stages: stagesOf(3, created_at) } });
  await expect(region(page, "Starting")).toBeVisible();
  await judge(page, "environment-pending");
  await show(page, { environment: { ...everyState["4d3f9c27b0d4e5a6"], id, gpu: null } });
  await expect(page.getByRole("button", { name: "Restart" })).toBeVisible();
  await judge(page, "environment-stopped");
  await show(page, { points: [], environment: { ...everyState["7a3f9c27b0d4e5a6"], jupyter_token: null } });
  await expect(page.getByText("Time is used up")).toBeVisible();
  await judge(page, "environment-ended");
  await page.getByRole("button", { name: /^More actions for / }).click();
  await expect(page.getByRole("menuitem", { name: "Download files" })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Terminate" })).toHaveCount(0);

  const one = `**/environments/${id}`;
  await page.unroute(one);
  await page.goto(`/environments/${id}`);
  await expect(page.getByText("There is no such environment")).toBeVisible();
  await judge(page, "environment-unknown");
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  await page.route(one, async (route) => {
    if (route.request().resourceType() === "document") return route.continue();
    await promise;
    await route.abort();
  });
  await page.reload();
  await expect(page.getByRole("status", { name: "Loading your environment..." })).toBeVisible();
  await judge(page, "environment-loading");
  letGo();
  await page.unroute(one);
  await page.clock.install();
  await page.route(one, (route) =>
    route.request().resourceType() === "document"
      ? route.continue()
      : route.fulfill({ status: 503, json: { status: "error", code: "unavailable", message: "Out", detail: "" } }),
  );
  await page.goto(`/environments/${id}`);
  await passUntilVisible(page, page.getByText("Unable to load this environment"), 500);
  await judge(page, "environment-failed");
  expect(customer.userId).not.toBe("");
});

test("a rented environment's page: from its name in the list, live, with logs, references and its end (G32, G70, G86)", async ({
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

  await expect(page.getByRole("img", { name: "CPU: 0.25 cores now, at most 0.25 cores" })).toBeVisible();
  await expect(region(page, "Use").getByText("CPU only (no GPU on this machine)").first()).toBeVisible();
  await expect(region(page, "Lines of the log")).toContainText(/Jupyter Server [\d.]+ is running/);
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
  await drawsNewPassword(page, detail.jupyter_token ?? "");
  await stopsWhenIdle(page, db, environment_id);
  await guestComesAndGoes(page, () => staysIdle(db, environment_id));
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByRole("button", { name: "Restart" })).toBeVisible();
  await expect(page.getByText("Nothing is measured while it does not run.")).toBeVisible();
  // Without the toasts of what was done, which lie over the menu for a while.
  await page.reload();
  await page.getByRole("button", { name: `More actions for ${subdomain}` }).click();
  await page.getByRole("menuitem", { name: "Terminate" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill(subdomain);
  await page.getByRole("dialog").getByRole("button", { name: "Terminate" }).click();
  await expect(page.getByText("Ended by you")).toBeVisible();
  await expect(page.getByText("Nothing runs now. The log of a run goes with it.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Jupyter password" })).toHaveCount(0);
});
