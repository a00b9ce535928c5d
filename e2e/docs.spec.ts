import type { Page } from "@playwright/test";
import { expectTargets } from "./testing/targets.ts";
import { expect, expectAccessible, test } from "./testing/test.ts";
import { checkScreen } from "./testing/viewports.ts";

for (const part of ["use", "operate", "develop"])
  test(`every page of /docs/${part} is accessible and has targets of at least 24 px, at 1440 and 390 (G140)`, async ({
    page,
  }) => {
    test.slow();
    const paths = await pagesOf(page, `/docs/${part}`);
    expect(paths.length).toBeGreaterThan(6);
    for (const path of paths) {
      await page.goto(path);
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await expectTargets(page, `${path} ${width}`, false);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, `${path} scrolls sideways at ${width}`).toBeLessThanOrEqual(0);
        if (width === 1440) {
          // The list of pages opens a moment after its window grew.
          await expect(page.locator("[data-docs-menu]")).toHaveJSProperty("open", true);
          await expectAccessible(page);
        }
      }
    }
  });

test("the start page and a renter's page are accessible at all widths and in both schemes (G140)", async ({ page }) => {
  for (const path of ["/docs", "/docs/use/time"]) {
    await page.goto(path);
    await checkScreen(page, path.slice(1).replaceAll("/", "-"));
  }
});

/** The pages of a part, from the list beside its first one. */
async function pagesOf(page: Page, part: string): Promise<string[]> {
  const html = await (await page.request.get(part)).text();
  const [, list = ""] = /<nav aria-label="Documentation"[^>]*>(.*?)<\/nav>/s.exec(html) ?? [];
  return [...list.matchAll(/href="([^"]+)"/g)].map(([, path = ""]) => path);
}

/** As renters type them; each is answered by one of the first three results. */
const questions: readonly (readonly [typed: string, page: string])[] = [
  ["does my cell go on if I close the tab", "/docs/use/output"],
  ["ssh", "/docs/use/ssh"],
  ["vs code", "/docs/use/ssh"],
  ["upi", "/docs/use/paying#upi"],
  ["conda", "/docs/use/not-offered-yet#conda"],
  ["tensorboard", "/docs/use/ports"],
  ["pause or stop", "/docs/use/time#four-ways"],
  ["download files", "/docs/use/files#download"],
  ["disk space", "/docs/use/files#space"],
  ["forgot password", "/docs/use/account#forgot"],
  ["invoice gst", "/docs/use/paying#receipts"],
  ["price of 2 gpus", "/docs/use/choosing#price"],
  ["terminate money back", "/docs/use/refunds#when-you-terminate"],
  ["lost output", "/docs/use/output"],
  ["sudo apt install", "/docs/use/not-offered-yet#apt"],
  ["api key", "/docs/use/not-offered-yet#api-keys"],
  ["google login", "/docs/use/account#log-in-with-google"],
  ["mount google drive", "/docs/use/not-offered-yet#s3"],
  ["student discount", "/docs/use/not-offered-yet#teams"],
  ["run training overnight", "/docs/use/output#let-a-long"],
  ["charged twice", "/docs/use/paying#when-something"],
  ["promo code", "/docs/use/paying#credits"],
  ["out of memory", "/docs/use/help"],
  ["invite a colleague", "/docs/use/sharing"],
  ["extend time", "/docs/use/time#add-time"],
  ["which gpu do I get", "/docs/use/choosing#gpus"],
];

test("what renters type leads to its answer within three results, renters' pages first (G344)", async ({ page }) => {
  await page.goto("/docs");
  const search = page.getByRole("search");
  const field = search.getByRole("searchbox");
  for (const [typed, path] of questions) {
    await field.fill(typed);
    const group = search.getByRole("list", { name: "Rent and use" });
    const first = group.getByRole("listitem").getByRole("link");
    await expect
      .soft(async () => {
        const found = await first.evaluateAll((links) => links.slice(0, 3).map((link) => link.getAttribute("href")));
        expect(found, typed).toContainEqual(expect.stringMatching(`^${path}`));
      })
      .toPass({ timeout: 10_000 });
  }
  await page.goto("/docs/operate");
  await field.fill("refund");
  await expect(search.getByRole("heading", { level: 2 }).first()).toHaveText("Operate");
});

test("the search opens over the page, marks its hits and goes by keys; what it lacks is counted (G344, G345)", async ({
  page,
  database: { db },
}) => {
  await page.goto("/docs/use/files");
  const search = page.getByRole("search");
  const field = search.getByRole("searchbox", { name: "Search the documentation" });
  const title = page.getByRole("heading", { level: 1 });
  const before = await title.boundingBox();
  await page.keyboard.press("/");
  await expect(field).toBeFocused();
  await page.keyboard.type("unused share");
  await expect(search.getByRole("status")).toHaveText(/^\d+ results?$/);
  expect(await title.boundingBox()).toEqual(before);
  await expect(search.locator("mark").first()).toHaveText(/^unused$/i);
  await checkScreen(page, "docs-search", { fullPage: false, stays: "[data-docs-search] mark" });
  await field.focus();
  await page.keyboard.press("ArrowDown");
  await expect(search.getByRole("link").first()).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(field).toBeFocused();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/docs/use/refunds#how-the-unused-share-is-counted");
  await field.fill("nothingofthekind");
  await expect(search.getByRole("status")).toHaveText("Nothing found. Try another word.");
  const counted = db.selectFrom("docs_searches").select("count").where("words", "=", "nothingofthekind");
  await expect.poll(() => counted.execute()).toEqual([{ count: 1 }]);
  await field.press("Escape");
  await expect(field).toHaveValue("");
  await expect(search.getByRole("status")).toBeHidden();
});

test("a tab for each audience; help opens the page of the screen, which knows who is signed in (G346)", async ({
  page,
  customer: _,
}) => {
  await page.goto("/billing");
  const opening = page.waitForEvent("popup");
  await page.getByRole("link", { name: "Help with this screen" }).click();
  const docs = await opening;
  await docs.waitForURL("**/docs/use/paying");
  const banner = docs.getByRole("banner");
  await expect(banner.getByRole("link", { name: "Dashboard" })).toBeVisible();
  await expect(banner.getByRole("link", { name: "Support" })).toHaveAttribute("href", "/support");
  await expect(banner.getByRole("link", { name: "Sign Up" })).toBeHidden();
  const tabs = docs.getByRole("navigation", { name: "Audiences" });
  await expect(tabs.locator("[aria-current]")).toHaveText("Rent and use");
  await tabs.getByRole("link", { name: "Operate" }).click();
  await docs.waitForURL("**/docs/operate");
  const pages = docs.getByRole("navigation", { name: "Documentation" });
  await expect(pages.getByRole("link", { name: "Mail" })).toBeVisible();
  await expect(pages.getByRole("link", { name: "Your first notebook" })).toHaveCount(0);
  await docs.evaluate(() => localStorage.clear());
  await docs.reload();
  await expect(banner.getByRole("link", { name: "Sign Up" })).toBeVisible();
  await expect(banner.getByRole("link", { name: "Dashboard" })).toBeHidden();
});

test("the footer leads to it, and its pages lead on to each other (G140)", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("contentinfo").getByRole("link", { name: "Documentation" }).click();
  await page.waitForURL("**/docs");
  await page.getByRole("article").getByRole("link", { name: "Rent and use" }).click();
  await page.waitForURL("**/docs/use");
  const neighbors = page.getByRole("navigation", { name: "Previous and next page" });
  await neighbors.getByRole("link", { name: "Next" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Your first notebook");
  const pages = page.getByRole("navigation", { name: "Documentation" });
  await expect(pages.getByRole("link", { name: "Your first notebook" })).toHaveAttribute("aria-current", "page");
  await page.getByRole("navigation", { name: "On this page" }).getByRole("link", { name: "5. Run a cell" }).click();
  await expect(page).toHaveURL(/#5-run-a-cell$/);
  await expect(page.getByRole("heading", { name: "5. Run a cell" })).toBeInViewport();
});

test("a page far down the list is shown there, and pictures follow the scheme (G140)", async ({ page }) => {
  await page.goto("/docs/operate/upgrade");
  const pages = page.getByRole("navigation", { name: "Documentation" });
  await expect(pages.getByRole("link", { name: "Upgrade and downgrade" })).toBeInViewport({ ratio: 1 });
  await page.goto("/docs/use/first-notebook");
  const picture = page.getByRole("img", { name: /^Step 2 of a launch/ });
  for (const [colorScheme, file] of [
    ["light", "choose.webp"],
    ["dark", "choose-dark.webp"],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.reload();
    await expect(picture).toHaveAttribute("src", `/docs/use/pictures/${file}`);
    await picture.scrollIntoViewIfNeeded();
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(1000);
  }
});

test("a code block is copied (G140)", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/docs/use/files");
  await page.getByRole("button", { name: "Copy" }).first().click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("curl -O");
});

test("without JavaScript it can be read, on a phone too (G140)", async ({ browser, product }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  await page.goto(`${product.url}/docs/use/refunds`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Refunds");
  await expect(page.getByRole("search")).toBeHidden();
  await page.getByText("All pages").click();
  await page
    .getByRole("navigation", { name: "Documentation" })
    .getByRole("link", { name: "Limits", exact: true })
    .click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Limits");
  await context.close();
});

test("an unknown page of it is the product's not-found page (G140)", async ({ page }) => {
  const reply = await page.goto("/docs/nowhere");
  expect(reply?.status()).toBe(404);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});
