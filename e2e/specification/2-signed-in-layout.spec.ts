import { alterReply } from "../testing/containers.ts";
import { expect, test } from "../testing/test.ts";

const pages = [
  ["/dashboard", "Dashboard"],
  ["/environments", "Environments"],
  ["/billing", "Billing and Usage"],
  ["/support", "Support"],
  ["/settings", "Settings"],
] as const;

test("the sidebar links all screens, collapses and stays collapsed; the header names the page (G57)", async ({
  page,
  customer,
}) => {
  await page.goto("/dashboard");
  const side = page.getByRole("complementary", { name: "Sidebar" });
  await expect(side.getByText("Ada Park")).toBeVisible();
  await expect(side.getByText(customer.email)).toBeVisible();
  expect(await side.getByRole("link").allInnerTexts()).toEqual([
    "Berth",
    "Dashboard",
    "Environments",
    "Billing",
    "Support",
    "Settings",
  ]);
  await expect(side.getByRole("button", { name: "Logout" })).toBeVisible();
  for (const [path, title] of pages) {
    await side.locator(`a[href="${path}"]`).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(title);
    await expect(side.locator("[aria-current=page]")).toHaveAttribute("href", path);
  }
  await page.getByRole("button", { name: "Collapse sidebar" }).click();
  await expect(side.getByText("Ada Park")).toBeHidden();
  await page.reload();
  await expect(page.getByRole("button", { name: "Expand sidebar" })).toBeVisible();
  await side.getByRole("link", { name: "Billing" }).click();
  await page.waitForURL("**/billing");

  // It opens a tab of its own (e2e/docs.spec.ts); Support is an entry of the sidebar.
  await expect(page.getByRole("link", { name: "Help with this screen" })).toHaveAttribute("href", "/docs/use/paying");
  await page.getByRole("link", { name: "Settings of Ada Park" }).click();
  await page.waitForURL("**/settings");
  await expect(page.getByRole("banner").getByText("A", { exact: true })).toBeVisible();
  // The logo links to /, which redirects signed-in users to the dashboard (G55).
  await side.getByRole("link", { name: "Berth home" }).click();
  await page.waitForURL("**/dashboard");
});

test("without a name the user is User, and an initial of two code units is kept whole", async ({ page, customer }) => {
  let name = "  ";
  await alterReply(page, `**/profile/${customer.userId}`, (answer) => ({
    ...answer,
    profile: { ...answer.profile, name },
  }));
  await page.goto("/dashboard");
  await expect(page.getByRole("link", { name: "Settings of User" })).toHaveText("U");
  await expect(page.getByRole("heading", { name: "Welcome, User" })).toBeVisible();
  const side = page.getByRole("complementary", { name: "Sidebar" });
  await expect(side.getByText("User", { exact: true })).toBeVisible();
  name = "🚀 Rocket";
  await page.reload();
  await expect(page.getByRole("link", { name: "Settings of 🚀 Rocket" })).toHaveText("🚀");
});
