import type { Page } from "@playwright/test";
import { environment } from "../../testing/environment.ts";
import { bonusPrint } from "../../web/src/content/bonus-print.ts";
import { expect, test } from "../testing/test.ts";

/** Spec 2.13, 2.14 and 9.3, G10, G15, G16, G21, G22, G31, G69, G97. */
const documents = [
  {
    path: "/terms-condition",
    title: "Terms of Service",
    promises: [
      "You may share container links with other users",
      "maximum session is 168 hours",
      "Refunds take 4-5 business days",
      `2 bonus hours. ${bonusPrint}`,
      "30-day notice",
      "two-warning system",
      "Crypto mining is the exception: it leads to immediate termination",
      "Nothing renews by itself",
      "kept 30 days after the last session",
    ],
  },
  {
    path: "/refund",
    title: "Refund policy",
    promises: [
      "Automatic refunds",
      "processed in 4-5 business days",
      "You paid and no container was delivered.",
      bonusPrint,
      "The hardware failed in a paid session.",
      "Maintenance took a significant part of your paid time.",
      "Discretionary refunds",
      "You get a fresh session",
      "a prorated refund or an extended session",
      "No refunds",
      "Completed or consumed sessions.",
      "Early termination by you.",
      "Violation of the terms.",
      "four steps",
      "session ID, the payment reference and a description of the issue",
      "original payment method",
      "an email confirms it",
      "Fair usage",
      "Processing time",
      "Alternatives",
    ],
  },
  {
    path: "/privacy-policy",
    title: "Privacy Policy",
    promises: ["no advertising and no analytics", "argon2id hash", "copy of your data", "deletion of your account"],
  },
  {
    path: "/legal-compliance",
    title: "Legal Compliance Summary",
    promises: ["Consumer information", "two-warning system", "We claim no certificate"],
  },
  {
    path: "/delivery-policy",
    title: "Delivery policy",
    promises: ["nothing is shipped", "Later than ten minutes", "two hours are added", "Not delivered:", bonusPrint],
  },
];

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  for (const { path, title, promises } of documents) {
    test(`${path} is complete`, async ({ page }) => {
      await page.goto(path);
      await expect(page).toHaveTitle(`${title} · Berth`);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText([title]);
      // Styled, not only present.
      await expect(page.getByRole("heading", { level: 1 })).toHaveCSS("font-size", "32px");
      const article = page.getByRole("article");
      for (const promise of promises) await expect(article).toContainText(promise);
      await expect(article).toContainText(/Last changed [A-Z][a-z]+ \d+, 20\d\d, version \d+\.\d+\./);
      await expect(article).toContainText("Changes are announced 30 days ahead.");
      const help = article.getByText("Need help?").getByRole("link");
      await expect(help).toHaveAttribute("href", /^mailto:.+@.+/);
      expect(await article.innerText()).not.toMatch(/[{}]/);
      for (const other of documents) {
        await expect(page.getByRole("navigation", { name: "Legal" }).locator(`a[href="${other.path}"]`)).toBeVisible();
      }
    });
  }
});

for (const { path, title } of documents) {
  test(`${path} names its section when narrow, fits at 200 % zoom and violates no content security policy`, async ({
    page,
  }) => {
    const problems = watch(page);
    await page.goto(path);
    await expect(page).toHaveTitle(`${title} · Berth`);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await expect(page.getByRole("navigation", { name: "Documents" }).locator("[aria-current]")).toBeInViewport();
    // 1440 x 900 at 200 % zoom.
    await page.setViewportSize({ width: 720, height: 450 });
    await expectNoSidewaysScroll(page);
    expect(problems).toEqual([]);
  });
}

test("the table of contents is shown on wide screens and links each section", async ({ page }) => {
  await page.goto("/terms-condition");
  const contents = page.getByRole("navigation", { name: "On this page" });
  const names = await contents.getByRole("link").allInnerTexts();
  expect(names).toEqual(await page.getByRole("article").getByRole("heading", { level: 2 }).allInnerTexts());
  await contents.getByRole("link", { name: "What is not allowed" }).click();
  await expect(page).toHaveURL(/#not-allowed$/);
  await expect(page.getByRole("heading", { name: "What is not allowed" })).toBeInViewport();
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(contents).toBeHidden();
});

test("a link inside a text leads to its section, a link to a document to its top", async ({ page }) => {
  await page.goto("/refund");
  await page.getByRole("link", { name: "what is not allowed" }).click();
  await expect(page).toHaveURL(/\/terms-condition#not-allowed$/);
  await expect(page.getByRole("heading", { name: "What is not allowed" })).toBeInViewport();
  await page.getByRole("contentinfo").getByRole("link", { name: "Delivery policy" }).click();
  await expect(page).toHaveTitle("Delivery policy · Berth");
  expect(await page.evaluate(() => window.scrollY)).toBe(0);
  await page.goBack();
  await expect(page).toHaveTitle("Terms of Service · Berth");
});

test("variants of a document's address find it", async ({ page }) => {
  for (const path of ["/refund/", "/Refund", "/refund?from=mail"]) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 }), path).toHaveText("Refund policy");
  }
});

test("a printed document is black on white, without the frame", async ({ page }) => {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.goto("/refund");
  for (const part of [
    page.getByRole("banner"),
    page.getByRole("contentinfo"),
    page.getByRole("navigation", { name: "Documents" }),
    page.getByRole("navigation", { name: "On this page" }),
  ]) {
    await expect(part).toBeHidden();
  }
  await expect(page.locator("body")).toHaveCSS("background-color", "rgb(255, 255, 255)");
  await expect(page.getByRole("heading", { level: 1 })).toHaveCSS("color", "rgb(0, 0, 0)");
  await expect(page.getByRole("article")).toContainText("Need help?");
  await keepPicture(page, "legal-refund-print");
});

function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  return problems;
}

async function expectNoSidewaysScroll(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
}

async function keepPicture(page: Page, name: string): Promise<void> {
  const { shots } = environment;
  if (shots) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
}
