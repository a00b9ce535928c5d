import { expect, test } from "./testing/test.ts";
import { checkScreen } from "./testing/viewports.ts";

test("the documentation is accessible at both widths and in both schemes (G140)", async ({ page }) => {
  for (const path of ["/docs", "/docs/use/time", "/docs/develop/api-orders", "/docs/configuration"]) {
    await page.goto(path);
    await checkScreen(page, path.slice(1).replaceAll("/", "-"));
  }
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

test("a page far down the list is shown there, beside the search, and pictures follow the scheme (G140)", async ({
  page,
}) => {
  await page.goto("/docs/operate/upgrade");
  const pages = page.getByRole("navigation", { name: "Documentation" });
  await expect(pages.getByRole("link", { name: "Upgrade and downgrade" })).toBeInViewport({ ratio: 1 });
  const search = page.getByRole("searchbox", { name: "Search the documentation" });
  await expect(search).toBeInViewport({ ratio: 1 });
  await search.fill("restic");
  await expect(search).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole("search").getByRole("link").first()).toBeInViewport();
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

test("a search finds a section, and a code block is copied (G140)", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/docs/use/files");
  await page.getByRole("button", { name: "Copy" }).first().click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("curl -O");
  const search = page.getByRole("search");
  await search.getByRole("searchbox", { name: "Search the documentation" }).fill("unused share");
  await expect(search.getByRole("status")).toHaveText(/^\d+ results?$/);
  await search.getByRole("link", { name: /How the unused share is counted/ }).click();
  await page.waitForURL("**/docs/use/refunds#how-the-unused-share-is-counted");
  await search.getByRole("searchbox").fill("nothingofthekind");
  await expect(search.getByRole("status")).toHaveText("Nothing found. Try another word.");
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
