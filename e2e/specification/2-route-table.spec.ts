import { expect, test } from "../testing/test.ts";

const open = [
  ["/", /./],
  ["/login", "Welcome back"],
  ["/signup", "Create your account"],
  ["/forgot-password", /./],
  ["/reset-password", "Invalid Reset Link"],
  ["/verify-email", "This link does not hold"],
  ["/terms-condition", "Terms of Service"],
  ["/refund", "Refund policy"],
  ["/privacy-policy", "Privacy Policy"],
  ["/legal-compliance", "Legal Compliance Summary"],
  ["/delivery-policy", "Delivery policy"],
  ["/status", "Status"],
] as const;

const guarded = ["/dashboard", "/environments", "/environments/create", "/billing", "/support", "/settings"] as const;

test("public routes are open to everybody, each with its own heading (G84)", async ({ page }) => {
  for (const [path, heading] of open) {
    const response = await page.goto(path);
    expect(response?.status(), path).toBe(200);
    await expect(page.getByRole("heading", { level: 1 }), path).toHaveText(heading);
    expect(new URL(page.url()).pathname).toBe(path);
  }
});

test("guarded routes lead to /login without a token or a user, and clear the session", async ({ page }) => {
  for (const path of guarded) {
    await page.goto(path);
    await page.waitForURL(`**/login?from=${encodeURIComponent(path)}`);
  }
  await page.evaluate(() => localStorage.setItem("idToken", "half a sign-in"));
  await page.goto("/settings");
  await page.waitForURL("**/login?from=*");
  await expect.poll(() => page.evaluate(() => localStorage.getItem("idToken"))).toBeNull();
});

test("the screen shows Loading your dashboard... while the token is checked", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/auth/validate", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto("/dashboard");
  await expect(page.getByText("Loading your dashboard...").first()).toBeVisible();
  release();
  await expect(page.getByText("Active Environments")).toBeVisible();
});

test("the landing page's buttons all lead to /login, its footer to the legal pages and the mail address", async ({
  page,
}) => {
  await page.goto("/");
  const banner = page.getByRole("banner");
  await expect(banner.getByRole("link", { name: "Login" })).toHaveAttribute("href", "/login");
  await expect(banner.getByRole("link", { name: "Sign Up" })).toHaveAttribute("href", "/login#signup");
  const starts = page.getByRole("main").getByRole("link", { name: /^(get started|launch|start)/i });
  expect(await starts.count()).toBeGreaterThan(4);
  for (const start of await starts.all()) await expect(start).toHaveAttribute("href", /^\/login(#signup)?$/);
  const legal = page.getByRole("contentinfo").getByRole("navigation", { name: "Legal" });
  expect(await legal.getByRole("link").evaluateAll((links) => links.map((link) => link.getAttribute("href")))).toEqual([
    "/terms-condition",
    "/refund",
    "/privacy-policy",
    "/legal-compliance",
    "/delivery-policy",
  ]);
  await expect(page.getByRole("contentinfo").getByRole("link", { name: "hello@berth.example" })).toHaveAttribute(
    "href",
    "mailto:hello@berth.example",
  );
});

test("signed-in users are redirected from /, /login and /signup (G55)", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  for (const path of ["/", "/login", "/signup"]) {
    await page.goto(path);
    await page.waitForURL("**/dashboard");
  }
});

test("an unknown route shows a plain page with a link (G98)", async ({ page }) => {
  await page.goto("/nowhere");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  expect(await page.getByRole("main").getByRole("link").count()).toBeGreaterThan(0);
});
