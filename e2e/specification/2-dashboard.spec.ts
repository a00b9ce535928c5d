import { alterReply, everyState, inHours, showContainers } from "../testing/containers.ts";
import { expect, test } from "../testing/test.ts";
import { freeze } from "../testing/toasts.ts";

const notice = "Test card";

test("the welcome line, three figures and the panel of a new user (G33)", async ({ page, customer }) => {
  await page.goto("/dashboard");
  expect(customer.userId).not.toBe("");
  await expect(page.getByRole("heading", { name: "Welcome, Ada Park" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Create New Environment" })).toHaveAttribute(
    "href",
    "/environments/create",
  );
  for (const figure of ["Active Environments", "Total Usage", "GPU Instances"])
    await expect(page.getByText(figure, { exact: true })).toBeVisible();
  await expect(page.locator("dl.panel > div").filter({ hasText: "Total Usage" })).toHaveText(/0\.0\s*hours$/);
  await expect(page.getByRole("heading", { name: "What can be trained" })).toBeVisible();
  await expect(page.getByText("Figures appear here after your first session.")).toBeVisible();
  await page.getByRole("link", { name: "Create Your First Environment" }).click();
  await page.waitForURL("**/environments/create");
});

test("the test card: copied for 1.8 s, a random CVV, dismissed for good; never with live keys (G11, G34)", async ({
  page,
  customer,
}) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.clock.install();
  await page.goto("/dashboard");
  const card = page.getByRole("region", { name: notice });
  await expect(card).toContainText("5555 5555 5555 4444");
  await expect(card).toContainText("Any future date");
  await expect(card).toContainText(/One-month beta until [A-Z][a-z]{2} \d+, 20\d\d: payments run/);
  const cvv = async () => /CVV\s*(\d{3})/.exec(await card.innerText())?.[1];
  const seen = new Set([await cvv()]);
  for (let n = 0; n < 3; n++) {
    await page.reload();
    await expect(card).toBeVisible();
    seen.add(await cvv());
  }
  expect(seen.size).toBeGreaterThan(1);
  await freeze(page);
  const copied = card.getByText("Copied", { exact: true });
  await card.getByRole("button", { name: /copy card number/ }).click();
  await expect(copied).toBeAttached();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("5555555555554444");
  await page.clock.runFor(1_700);
  await expect(copied).toBeAttached();
  await page.clock.runFor(200);
  await expect(copied).not.toBeAttached();

  await page.clock.resume();
  const config = await (await page.request.get("/config", { headers: { accept: "application/json" } })).json();
  // The product started for these tests.
  const betaDays = (Date.parse(config.beta.endsAt) - Date.now()) / 86_400_000;
  expect([betaDays > 27, betaDays <= 31], String(betaDays)).toEqual([true, true]);
  await page.route("**/config", (route) =>
    route.fulfill({ json: { ...config, payments: { ...config.payments, mode: "live" } } }),
  );
  await page.reload();
  await expect(page.getByText("Active Environments")).toBeVisible();
  await expect(card).toBeHidden();
  await page.unroute("**/config");
  await page.reload();
  await card.getByRole("button", { name: "Dismiss" }).click();
  await expect(card).toBeHidden();
  await page.reload();
  await expect(page.getByText("Active Environments")).toBeVisible();
  await expect(card).toBeHidden();
  expect(customer.userId).not.toBe("");
});

test("the dashboard lists the five newest with one button each, and counts all (3, 4, 9, G57)", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  const [first] = Object.values(everyState);
  const containers = {
    ...everyState,
    _meta: { ...first, subdomain: "not-an-environment" },
    "8b3f9c27b0d4e5a6": { ...first, subdomain: "older", created_at: inHours(-90), gpu_count: 1 },
    "9c3f9c27b0d4e5a6": { ...first, subdomain: "oldest", status: "terminated", created_at: inHours(-99) },
  };
  await showContainers(page, containers);
  await page.goto("/dashboard");
  const recent = page.getByRole("region", { name: "Recent Environments" });
  const rows = recent.getByRole("listitem");
  await expect(rows).toHaveCount(5);
  await expect(recent.getByRole("link", { name: "All 9" })).toBeVisible();
  await expect(page.getByText("not-an-environment")).toBeHidden();
  const row = (name: string) => rows.filter({ hasText: name });
  await expect(row("resnet-lab")).toContainText("Active");
  await expect(row("resnet-lab")).toContainText("PyTorch, 2 slots");
  await expect(row("resnet-lab")).toContainText(/Created [A-Z][a-z]{2} \d+, 20\d\d/);
  await expect(row("resnet-lab")).toContainText(/2h \d\dm left/);
  await expect(row("resnet-lab").getByRole("link", { name: "Open Session" })).toHaveAttribute(
    "href",
    /^http:\/\/resnet-lab\.localhost:\d+/,
  );
  await expect(row("whisper-small")).toContainText("Starting: pulling image 42%");
  await expect(row("kaggle-night").getByRole("link", { name: "Manage" })).toHaveAttribute(
    "href",
    "/environments?environment=4d3f9c27b0d4e5a6",
  );
  const figures = page.locator("dl.panel > div");
  await expect(figures.filter({ hasText: "Active Environments" })).toContainText("3");
  await expect(figures.filter({ hasText: "GPU Instances" })).toContainText("4");
  const usage = page.getByRole("region", { name: "Usage Overview" });
  await expect(usage).toContainText(/Total containers\s*9/);
  await expect(usage).toContainText(/Average session duration\s*N\/A/);
  await expect(usage).toContainText(/GPU utilization\s*N\/A/);
  await row("kaggle-night").getByRole("link", { name: "Manage" }).click();
  await expect(page.getByText("Showing 1 of 9 environments")).toBeVisible();

  const measured = { average_session_seconds: 5_400, gpu_percent: 60.6, run_hours: 3 };
  await alterReply(page, "**/profile/*", (reply) => ({ ...reply, user_data: { containers }, usage: measured }));
  await page.goto("/dashboard");
  await expect(usage).toContainText(/Average session duration\s*1\.5 h/);
  await expect(usage).toContainText(/GPU utilization\s*61%/);
});

test("the status running counts as active, with time left and Open Session (2, 4, G117)", async ({
  page,
  customer: _,
}) => {
  const [first] = Object.values(everyState);
  await showContainers(page, {
    "1a3f9c27b0d4e5a6": first,
    "2b3f9c27b0d4e5a6": { ...first, status: "running", subdomain: "runs" },
  });
  await page.goto("/dashboard");
  const runs = page
    .getByRole("region", { name: "Recent Environments" })
    .getByRole("listitem")
    .filter({ hasText: "runs" });
  await expect(runs).toContainText("Active");
  await expect(runs).toContainText("left");
  await expect(runs.getByRole("link", { name: "Open Session" })).toBeVisible();
  const figures = page.locator("dl.panel > div");
  await expect(figures.filter({ hasText: "Active Environments" })).toContainText("2");
  await expect(figures.filter({ hasText: "GPU Instances" })).toContainText("4");
});

test("a terminated environment has no button, and a missing name or count has its default (3)", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  const [first] = Object.values(everyState);
  await showContainers(page, {
    "7a3f9c27b0d4e5a6": { ...first, status: "terminated", subdomain: "gone" },
    "6f3f9c27b0d4e5a6": { ...first, subdomain: "", gpu_count: 0 },
  });
  await page.goto("/dashboard");
  const rows = page.getByRole("region", { name: "Recent Environments" }).getByRole("listitem");
  await expect(rows.filter({ hasText: "gone" })).toContainText("Terminated");
  await expect(rows.filter({ hasText: "gone" }).getByRole("link")).toHaveCount(0);
  await expect(rows.filter({ hasText: "gone" }).getByRole("button")).toHaveCount(0);
  await expect(rows.filter({ hasText: "Container-6f3f9c27" })).toContainText("N/A");
  await expect(rows.filter({ hasText: "Container-6f3f9c27" })).toContainText("1 slot");
});
