import { codeOf } from "../../server/src/testing/factor-code.ts";
import { expect, linkFor, openScreen, password, test } from "../testing/console.ts";
import { checkScreen } from "../testing/viewports.ts";

test("an operator follows the link, sets up a second factor, signs out and in again", async ({ desk, page }) => {
  const link = await linkFor(desk, "link@berth.example");
  await page.goto(`/operator/link#${link}`);
  await expect(page.getByLabel("Email")).toHaveValue("link@berth.example");
  await page.getByLabel("Password", { exact: true }).fill("short");
  await page.getByRole("button", { name: "Set up and sign in" }).click();
  await expect(page.getByRole("alert")).toHaveText("Password must be at least 6 characters");
  const factor = (await page.getByText("Or type this there").innerText()).replace(/^.*: |\s/g, "");
  await checkScreen(page, "console-link");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByLabel("Code").fill(codeOf(factor));
  await page.getByRole("button", { name: "Set up and sign in" }).click();
  await expect(page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem")).toHaveCount(10);
  await checkScreen(page, "console-recovery-codes");
  await page.getByRole("button", { name: "Open the console" }).click();
  await expect(page.getByRole("heading", { name: "Now", level: 1 })).toBeVisible();
  const help = page.getByRole("link", { name: "Help with this screen" });
  await expect(help).toHaveAttribute("href", `${desk.product.url}/docs/operate/incidents`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("heading", { name: "Sign in to the console" })).toBeVisible();
  await page.goto(`/operator/link#${link}`);
  await expect(page.getByRole("alert")).toContainText("This link was used before");
  await checkScreen(page, "console-link-used");

  await page.goto("/operator/audit");
  await page.getByLabel("Email").fill("link@berth.example");
  await page.getByLabel("Password", { exact: true }).fill("wrong password");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toHaveText("This address or this password is not right");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Code")).toBeFocused();
  await checkScreen(page, "console-sign-in");
  await page.getByLabel("Code").fill(codeOf(factor, 1));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Audit", level: 1 })).toBeVisible();
});

test("Now: figures, findings with their remedy, a check again, and what could not be read", async ({
  operator,
  page,
}) => {
  const finding = {
    what: "Disks that are nearly full",
    remedy: "make room",
    rows: Array.from({ length: 30 }, (_, n) => `/data/${n}`),
  };
  const doctor = {
    checked_at: new Date().toISOString(),
    running: false,
    notes: ["Taken from the running server: PORT."],
    findings: [finding],
  };
  const refund = { currency: "USD", count: 2, minor: 480 };
  await page.route("**/operator/api/now", async (route) => {
    const json = await (await route.fetch()).json();
    const amounts = [
      { currency: "INR", paid_minor: 21_200, refunded_minor: 0 },
      { currency: "USD", paid_minor: 12_400, refunded_minor: 240 },
    ];
    await route.fulfill({
      json: {
        ...json,
        doctor,
        revenue: { ...json.revenue, amounts },
        gpus: { ...json.gpus, total: 8, free: 0, leased: 8, sold_out_since: "2026-11-20T14:31:00.000Z" },
        queue: { waiting: 2, since: "2026-11-20T14:52:00.000Z" },
        waiting: { refund_requests: 1, disputes: 2, refunds: [refund] },
      },
    });
  });
  await openScreen(page, "", "Now");
  await expect(page.getByText("Disks that are nearly full")).toBeVisible();
  await expect(page.getByText("and 10 more")).toBeVisible();
  await expect(page.getByText("₹212 + $124.00")).toBeVisible();
  await expect(page.getByText("1 refund request to decide")).toBeVisible();
  await expect(page.getByText(/^Sold out since Nov 20, /)).toBeVisible();
  await expect(
    page.getByText(/^8 of 8 slots are leased, none is free. 2 in the queue, the first since /),
  ).toBeVisible();
  await expect(
    page.getByRole("img", { name: /^Slots leased: \d of 8. At most \d, counted each half hour$/ }),
  ).toBeVisible();
  await checkScreen(page, "console-now");
  const act = page.getByRole("region", { name: "What happened last" }).getByRole("listitem").first();
  await expect(act).toContainText(operator);
  await expect(act.getByRole("link", { name: "Set up the sign-in to the console" })).toHaveAttribute(
    "href",
    `/operator/audit?subject=${encodeURIComponent(operator)}`,
  );
  await expect(page.getByRole("link", { name: "Decide" })).toHaveAttribute("href", "/operator/orders");
  await page.unroute("**/operator/api/now");
  await page.getByRole("button", { name: "Check again" }).click();
  await expect(page.getByText("and 10 more")).toBeHidden();
  await expect(page.getByRole("heading", { name: /no problems found|findings?$/i })).toBeVisible();
  // A check that runs while the screen opens is waited for without a hand on it.
  const checking = { ...doctor, checked_at: null, running: true };
  await page.route("**/operator/api/now", async (route) =>
    route.fulfill({ json: { ...(await (await route.fetch()).json()), doctor: checking } }),
  );
  await page.reload();
  await expect(page.getByRole("heading", { name: "Checking..." })).toBeVisible();
  await page.unroute("**/operator/api/now");
  await expect(page.getByRole("heading", { name: /no problems found|findings?$/i })).toBeVisible();
  await page.route("**/operator/api/now", (route) =>
    route.fulfill({ status: 403, json: { status: "error", code: "forbidden", message: "Broken", detail: "" } }),
  );
  await page.reload();
  await expect(page.getByRole("alert")).toContainText("The figures could not be read");
  await checkScreen(page, "console-now-failed");
});

test("Audit: newest first, filtered by subject, verified; empty and broken are said", async ({
  desk,
  operator,
  page,
}) => {
  await openScreen(page, "/audit", "Audit");
  await expect(page.getByRole("row", { name: new RegExp(`operator.set_up.*${operator}`) })).toBeVisible();
  await page.getByRole("button", { name: "Verify the chain" }).click();
  await expect(page.getByText(/^The chain is whole: \d+ entr(y|ies)$/)).toBeVisible();
  await checkScreen(page, "console-audit");
  await page.getByLabel("Id, name or address of what it was about").fill(operator);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/subject=/);
  await expect(page.getByRole("row")).toHaveCount(3);
  await page.getByLabel("Since").fill("2999-01-01");
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(page).toHaveURL(/subject=.*since=2999-01-01/);
  await expect(page.getByText(/^No act on operator-.* since Jan 1, 2999/)).toBeVisible();
  await page.getByLabel("Since").fill("2020-01-01");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("row")).toHaveCount(3);
  await page.goto("/operator/audit?subject=nothing");
  await expect(page.getByText("No act on nothing")).toBeVisible();
  await checkScreen(page, "console-audit-empty");
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await page.route("**/audit/verify", (route) =>
    route.fulfill({ json: { status: "success", acts: 4, head: "00", broken: 5 } }),
  );
  await page.getByRole("button", { name: "Verify the chain" }).click();
  await expect(page.getByRole("alert")).toContainText("Entry 5 was changed or is missing");
  expect(await desk.operate("audit", "verify")).toContain("are whole");
});

test("a sign-in that ended shows the door, and what was read before is gone", async ({ desk, operator, page }) => {
  await openScreen(page, "/audit", "Audit");
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await desk.operate("operators", "remove", operator);
  await page.getByRole("button", { name: "Verify the chain" }).click();
  await expect(page.getByRole("heading", { name: "Sign in to the console" })).toBeVisible();
  await expect(page.getByRole("row")).toHaveCount(0);
});

test("by keyboard and on a phone the screens are reached through the menu", async ({ operator: _, page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openScreen(page, "", "Now");
  await page.getByRole("button", { name: "Open menu" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("link", { name: "Audit" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Audit", level: 1 })).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
});
