import { everyState, inHours } from "./testing/containers.ts";
import {
  detailFixture,
  environmentId,
  openPart,
  region,
  showEnvironment,
  sshKey,
  stagesOf,
} from "./testing/environment-page.ts";
import { failCalls, holdCalls, jsonReply, mockCalls } from "./testing/mock-calls.ts";
import { expect, test } from "./testing/test.ts";
import { advanceUntilVisible } from "./testing/toasts.ts";
import { checkScreen } from "./testing/viewports.ts";

test("a stop by the system shows its reason, and a silent environment can be started without its settings (G106, G111)", async ({
  page,
  customer,
}) => {
  expect(customer).toBeDefined();
  const stopped = { ...everyState["4d3f9c27b0d4e5a6"], id: environmentId };
  await showEnvironment(page, { environment: { ...stopped, stop_reason: "no_home" } });
  await expect(page.getByText(/^The files of .* are not there$/)).toBeVisible();
  await showEnvironment(page, { environment: { ...stopped, stop_reason: "silent" } });
  await expect(page.getByText("JupyterLab did not answer", { exact: true })).toBeVisible();
  await page.route(`**/environments/${environmentId}/start`, (route) => route.fulfill({ json: { status: "success" } }));
  const asked = page.waitForRequest(`**/environments/${environmentId}/start`);
  await page.getByRole("button", { name: "Start without my settings" }).click();
  expect((await asked).postDataJSON()).toEqual({ without_settings: true });
});

test("an environment's page is accessible in every state, at both widths and in both schemes (G33, G37, G70)", async ({
  page,
  customer,
}) => {
  test.setTimeout(180_000);
  const lines = Array.from({ length: 40 }, (_, n) => `[I 2026-11-20 14:52:${10 + n}.412 ServerApp] line ${n + 1}`);
  await mockCalls(page, "**/settings/*/ssh-keys", jsonReply({ status: "success", ssh_keys: [sshKey] }));
  await showEnvironment(page, { lines });
  await expect(region(page, "References")).toBeVisible();
  await checkScreen(page, "environment");
  await openPart(page, "Use");
  await expect(page.getByRole("img", { name: /^GPU: GPU 1 \d+%, GPU 2 \d+% now/ })).toBeVisible();
  await checkScreen(page, "environment-use");
  await openPart(page, "Share");
  await expect(region(page, "Share").getByText("3 views")).toBeVisible();
  await openPart(page, "Logs");
  await expect(region(page, "Lines of the log")).toContainText("line 40");
  await expect(page).toHaveURL(/\?tab=logs$/);
  await checkScreen(page, "environment-logs");
  await openPart(page, "Access");
  await expect(region(page, "Ports").getByRole("link")).toHaveText(["Open", "Open"]);
  const ssh = region(page, "SSH");
  await expect(ssh.getByText("ssh -J berth@berth.example:2222 berth@resnet-lab.berth")).toBeVisible();
  await checkScreen(page, "environment-access");
  await page.getByRole("button", { name: "Make a new password" }).click();
  await checkScreen(page, "environment-new-password", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Escape");
  const idle = { minutes: 60, stops_at: inHours(0.15), snoozed_until: null, last_busy_at: inHours(-0.85) } as const;
  await mockCalls(page, "**/settings/*/ssh-keys", jsonReply({ status: "success", ssh_keys: [] }));
  await showEnvironment(page, { environment: { idle_stop: idle, done_notice: { mode: "stop", has_run: true } } });
  await expect(page.getByText("Something has run: it waits for its end.")).toBeVisible();
  await expect(page.getByText(/ is idle and stops /)).toBeVisible();
  await checkScreen(page, "environment-idle");
  await openPart(page, "Access");
  await expect(ssh.getByRole("link", { name: "Add an SSH key" })).toHaveAttribute("href", "/settings?tab=ssh-keys");
  await showEnvironment(page, { points: [], environment: { gpu: null, isolation: "bubblewrap", sessions: [] } });
  await openPart(page, "Use");
  await expect(region(page, "Use").getByText("N/A")).toHaveCount(4);
  await expect(region(page, "Use").getByText("GPU")).toHaveCount(0);
  await checkScreen(page, "environment-nothing-measured");
  const reason = "SSH is not offered here.";
  await mockCalls(
    page,
    `**/environments/*/ssh`,
    jsonReply({ ...{ status: "success", reason }, available: false, connection: null }),
  );
  await openPart(page, "Access");
  await expect(ssh.getByRole("status")).toHaveText(reason);
  await expect(ssh.getByRole("button")).toHaveCount(0);
  const first = { sessions: [], session_id: null, home_mb: null, receipts: ["INV-94kq0t9w2mz"], generation: 1 };
  const { created_at, ...pending } = everyState["5e3f9c27b0d4e5a6"] ?? detailFixture();
  await showEnvironment(page, {
    points: [],
    environment: { ...pending, ...first, created_at, stages: stagesOf(3, created_at) },
  });
  await expect(region(page, "Starting")).toBeVisible();
  await checkScreen(page, "environment-pending");
  const waits = { ...pending, ...first, created_at, stages: stagesOf(4, created_at), waits_for: "machine" } as const;
  await showEnvironment(page, { points: [], environment: waits });
  await expect(region(page, "Starting").getByText("Adding a machine")).toBeVisible();
  await checkScreen(page, "environment-waiting");
  await showEnvironment(page, { environment: { ...everyState["4d3f9c27b0d4e5a6"], id: environmentId, gpu: null } });
  await expect(page.getByRole("button", { name: "Restart" })).toBeVisible();
  await checkScreen(page, "environment-stopped");
  await showEnvironment(page, { points: [], environment: { ...everyState["7a3f9c27b0d4e5a6"], jupyter_token: null } });
  await expect(page.getByText("Time is used up")).toBeVisible();
  await checkScreen(page, "environment-ended");
  await page.getByRole("button", { name: /^More actions for / }).click();
  await expect(page.getByRole("menuitem", { name: "Download files" })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Terminate" })).toHaveCount(0);

  const one = `**/environments/${environmentId}`;
  await page.unroute(one);
  await page.goto(`/environments/${environmentId}`);
  await expect(page.getByText("There is no such environment")).toBeVisible();
  await checkScreen(page, "environment-unknown");
  const release = await holdCalls(page, one);
  await page.reload();
  await expect(page.getByRole("status", { name: "Loading your environment..." })).toBeVisible();
  await checkScreen(page, "environment-loading");
  release();
  await failCalls(page, one);
  await page.goto(`/environments/${environmentId}`);
  await advanceUntilVisible(page, page.getByText("Unable to load this environment"), 500);
  await checkScreen(page, "environment-failed");
  expect(customer.userId).not.toBe("");
});

test("files that move to another machine show how far they are (G196)", async ({ page, customer }) => {
  expect(customer).toBeDefined();
  const stopped = detailFixture({ status: "stopped", expires_at: null, banked_seconds: 8400, moving_percent: 42 });
  await showEnvironment(page, { environment: stopped });
  await expect(page.getByText("Moving your files", { exact: true })).toBeVisible();
  await expect(page.getByText("Moving its files, 42 %", { exact: true })).toBeVisible();
  await checkScreen(page, "environment-moving");
});

test("an environment whose machine failed can be started without its files, after a sentence that says what stays behind (G202)", async ({
  page,
  customer,
}) => {
  expect(customer).toBeDefined();
  const unknown = { status: "unknown", may_start_fresh: true } as const;
  await showEnvironment(page, { environment: { ...unknown, lost_since: null } });
  await expect(page.getByText(/^The machine of .* does not answer$/)).toBeVisible();
  await expect(page.getByRole("button", { name: "End it for a refund" })).toHaveCount(0);
  await showEnvironment(page, { environment: { ...unknown, lost_since: inHours(-0.1) } });
  await expect(page.getByRole("button", { name: "End it for a refund" })).toBeVisible();
  await expect(page.getByText("Unknown Status")).toHaveCount(1);
  // The clock stands since the last sign.
  await expect(page.getByLabel("About this environment")).toContainText(/N\/A\s*\d.*left, clock stopped/);
  await expect(page.getByText("The machine gives no sign since then")).toBeVisible();
  await checkScreen(page, "environment-lost");
  await page.getByRole("button", { name: "Start without its files" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("none of its notebooks, data and installed packages come with it");
  await checkScreen(page, "environment-fresh-start", { fullPage: false, stays: "[role=dialog]" });
  await page.route(`**/environments/${environmentId}/start_fresh`, (route) =>
    route.fulfill({ json: { status: "success" } }),
  );
  const asked = page.waitForRequest(`**/environments/${environmentId}/start_fresh`);
  await dialog.getByRole("button", { name: "Start without its files" }).click();
  expect((await asked).method()).toBe("POST");
});
