import { gzipSync } from "node:zlib";
import { bonusPrint } from "../../web/src/content/bonus-print.ts";
import { expect, test } from "../testing/test.ts";
import { visit } from "../testing/visit.ts";

const most = 135_000;

test("the landing page loads at most 135 KB of JavaScript, gzip (G104)", async ({ page }) => {
  const scripts: Promise<Buffer>[] = [];
  page.on("response", (response) => {
    if (/\.js$/.test(new URL(response.url()).pathname)) scripts.push(response.body());
  });
  // Fetched without a browser, because a reported pointer move would load the app.
  const html = await (await page.request.get("/", { headers: { accept: "text/html" } })).text();
  const [before, app] = html.split('<template id="app">');
  expect(before?.match(/<script[^>]* src=/g)).toHaveLength(1);
  expect(app).toContain(`rel="prefetch"`);
  await page.goto("/");
  await page.mouse.move(200, 200);
  await expect.poll(() => scripts.length).toBeGreaterThan(4);
  await page.waitForLoadState("networkidle");
  const sizes = (await Promise.all(scripts)).map((script) => gzipSync(script, { level: 9 }).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(most);
});

test("public pages switch and keep the color scheme, Sign Up opens its tab, and a sign-in elsewhere leads to the dashboard", async ({
  page,
  context,
}) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto("/");
  const html = page.locator("html");
  await expect(html).toHaveAttribute("data-mantine-color-scheme", "light");
  await page.getByRole("button", { name: "Switch between light and dark" }).click();
  await expect(html).toHaveAttribute("data-mantine-color-scheme", "dark");
  await page.goto("/refund");
  await expect(html).toHaveAttribute("data-mantine-color-scheme", "dark");
  await page.goto("/");
  await page.getByRole("banner").getByRole("link", { name: "Sign Up" }).click();
  await expect(page).toHaveURL(/\/login#signup$/);
  await expect(html).toHaveAttribute("data-mantine-color-scheme", "dark");
  await expect(page.getByRole("tab", { name: "SIGN UP" })).toHaveAttribute("aria-selected", "true");
  await page.goBack();
  await expect(page.getByRole("heading", { name: "Pricing" })).toBeVisible();
  const other = await context.newPage();
  await other.goto("/login");
  await other.evaluate(() => localStorage.setItem("idToken", "of another tab"));
  await expect(page).not.toHaveURL(/\/$/);
});

test("every route has a title of its own", async ({ page, customer: _ }) => {
  await page.goto("/dashboard");
  for (const [path, title] of [
    ["/dashboard", "Dashboard · Berth"],
    ["/environments", "Environments · Berth"],
    ["/environments/create", "Create Environment · Berth"],
    ["/billing", "Billing · Berth"],
    ["/support", "Support · Berth"],
    ["/settings", "Settings · Berth"],
    ["/nowhere", "There is nothing here"],
  ] as const) {
    await visit(page, path);
    await expect(page, path).toHaveTitle(new RegExp(`^${title.split(" · ")[0]}`));
  }
  await page.evaluate(() => localStorage.clear());
  for (const [path, title] of [
    ["/", "Berth: your own GPU by the hour"],
    ["/login", "Login · Berth"],
    ["/signup", "Sign Up · Berth"],
    ["/refund", "Refund policy · Berth"],
  ] as const) {
    await page.goto(path);
    await expect(page, path).toHaveTitle(title);
  }
  const titles = new Set<string>();
  for (const path of ["/forgot-password", "/reset-password", "/login"]) {
    await page.goto(path);
    await expect(page.locator("h1").first()).toBeVisible();
    titles.add(await page.title());
  }
  expect(titles.size).toBe(3);
  // A link back to the landing page resets the title.
  await page.goto("/refund");
  await page.getByRole("banner").getByRole("link", { name: "Berth home" }).click();
  await expect(page).toHaveTitle("Berth: your own GPU by the hour");
});

test("public pages have the metadata for link previews and search engines", async ({ page, request, product }) => {
  for (const path of ["/", "/refund", "/status"]) {
    await page.goto(path);
    const content = (property: string) => page.locator(`meta[property="og:${property}"]`).getAttribute("content");
    expect(await content("title")).toBe(await page.title());
    expect(await content("url")).toBe(`${product.url}${path}`);
    expect(await content("description")).toBe(await page.locator('meta[name="description"]').getAttribute("content"));
    expect(await page.locator('link[rel="canonical"]').getAttribute("href")).toBe(`${product.url}${path}`);
    const image = await request.get(String(await content("image")));
    expect([image.status(), image.headers()["content-type"]]).toEqual([200, "image/png"]);
  }
  for (const icon of ["/favicon.svg", "/favicon.png", "/apple-touch-icon.png"]) {
    const answer = await request.get(icon);
    expect([icon, answer.status(), answer.headers()["content-type"]]).toEqual([
      icon,
      200,
      expect.stringMatching(/^image\//),
    ]);
  }
  await page.goto("/login");
  await expect(page.locator('meta[name="robots"]')).toHaveAttribute("content", "noindex");
  expect(await (await request.get("/robots.txt")).text()).toContain(`Sitemap: ${product.url}/sitemap.xml`);
  const sitemap = await (await request.get("/sitemap.xml")).text();
  const listed = [...sitemap.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, address = ""]) => address);
  const isDocumentation = (address: string) => /^\/docs(\/|$)/.test(new URL(address).pathname);
  expect(listed.filter((address) => !isDocumentation(address))).toHaveLength(7);
  for (const address of listed) expect((await request.get(address)).status(), address).toBe(200);
});

test("the landing page is complete without JavaScript", async ({ browser, baseURL }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, baseURL: baseURL ?? "" });
  const page = await context.newPage();
  await page.goto("/");
  await expect(page).toHaveTitle("Berth: your own GPU by the hour");
  await expect(page.locator("h1")).toHaveCount(1);
  await expect(page.getByRole("heading", { name: "Pricing" })).toBeVisible();
  await expect(page.getByRole("contentinfo").getByRole("link", { name: "hello@berth.example" })).toBeVisible();
  await context.close();
});

test("public pages fit at 200 % zoom", async ({ page }) => {
  await page.setViewportSize({ width: 720, height: 450 });
  for (const path of ["/", "/login", "/signup", "/forgot-password", "/nowhere"]) {
    await page.goto(path);
    await expect(page.locator("h1").first()).toBeVisible();
    await page.evaluate(() => document.fonts.ready);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow, path).toBeLessThanOrEqual(0);
  }
});

test("with reduced motion public pages have no lasting animation", async ({ page }) => {
  for (const path of ["/", "/refund", "/login"]) {
    await page.goto(path);
    await expect(page.locator("h1").first()).toBeVisible();
    await expect.poll(() => page.evaluate(() => document.getAnimations().length), { message: path }).toBe(0);
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior)).toBe("auto");
  }
});

test("the landing page states the product's limits and prices (1, 9)", async ({ page }) => {
  await page.goto("/");
  const main = page.getByRole("main");
  for (const promise of [
    "in about 30 seconds",
    "RTX 4070 with 12GB VRAM",
    "from $0.20 per hour",
    "JupyterLab, PyTorch or TensorFlow already installed",
    "Persistent between sessions",
    "1, 2, 4, 6 or 8 GPUs",
    "No credit card needed to sign up",
    "for at most as many GPUs as you paid for: with more GPUs they are fewer in proportion",
    bonusPrint,
  ])
    await expect(main, promise).toContainText(promise);
});

test("every price says that nothing renews; hourly and monthly show the printed percentages (G3, G21, G84)", async ({
  page,
}) => {
  await page.goto("/");
  const pricing = page.getByRole("region", { name: "Pricing" });
  await expect(pricing).toContainText("Pay once for the hours you choose; nothing renews by itself.");
  const rows = pricing.locator("tbody tr");
  for (const [index, texts] of [
    ["1 GPU", "$0.20", "$150"],
    ["2 GPUs", "$0.40", "$280", "7% off"],
    ["4 GPUs", "$0.75", "6.25% discount", "$520", "13% off"],
    ["6 GPUs", "$1.05", "12.5% discount", "$750", "16% off"],
    ["8 GPUs", "$1.60", "Premium, no discount", "$1,200"],
  ].entries())
    for (const text of texts) await expect(rows.nth(index)).toContainText(text);
  await expect(pricing).not.toContainText(/save/i);
  await expect(pricing).toContainText("INR at ₹88.22 for a dollar");
});
