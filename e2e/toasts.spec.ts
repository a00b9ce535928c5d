import type { Locator, Page } from "@playwright/test";
import { seedHistory } from "../testing/seed.ts";
import { expect, test } from "./testing/test.ts";
import { advanceUntilVisible, freeze, toastOf } from "./testing/toasts.ts";
import { visit } from "./testing/visit.ts";

// With motion, because reduced motion disables the closing animation.
test.use({ contextOptions: { reducedMotion: "no-preference" } });

/** Spec 9.2. */
const closingMs = 300;

test("an error stays 7 s, at most three toasts are stacked, and all are announced (9)", async ({ page }) => {
  await page.addInitScript(watchToasts);
  await page.goto("/login");
  await expect(page.getByRole("region", { name: "Messages" })).toHaveAttribute("aria-live", "polite");
  await refuseSignIn(page, 4);
  const alerts = page.getByRole("region", { name: "Messages" }).getByRole("alert");
  await expect(alerts).toHaveCount(3);
  await expect(alerts.first()).toContainText("Login Failed");
  await expectDuration(page, "error", 7_000);
  await expect.poll(async () => (await seen(page)).length).toBe(4);
  const all = await seen(page);
  // The oldest toast is still closing when the next one opens.
  const shown = (at: number) =>
    all.filter(({ came, gone }) => came <= at && (!gone || gone > at + 2 * closingMs)).length;
  expect(Math.max(...all.map(({ came }) => shown(came)))).toBe(3);
});

test("a toast hides no figure and no control on Billing and in the list (G342)", async ({
  page,
  product,
  customer,
}) => {
  await seedHistory(product, customer, { count: 8, prefix: `toast-${Date.now().toString(36)}` });
  await page.clock.install();
  await page.goto("/billing");
  await freeze(page);
  await expectNothingCovered(page, toastOf(page, "Billing data loaded successfully"));
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.route("**/docker/stop_container/**", (route) => route.fulfill({ json: { status: "success" } }));
  await visit(page, "/environments");
  await page.getByRole("button", { name: "Stop", exact: true }).first().click();
  await expectNothingCovered(page, toastOf(page, "stopped and cleaned up"));
});

/** At both widths; on a phone the page can be scrolled clear of the toast at its lower edge. */
async function expectNothingCovered(page: Page, toast: Locator): Promise<void> {
  await advanceUntilVisible(page, toast);
  // The opening animation ends; what moves by a style does so in real time.
  await page.clock.runFor(closingMs);
  await page.evaluate(async () => {
    const ends = ({ effect }: Animation) => effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY;
    const moving = document.getAnimations().filter(ends);
    await Promise.allSettled(moving.map(({ finished }) => finished));
  });
  expect(await coveredTexts(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(toast).toBeVisible();
  const { y = 0 } = (await toast.boundingBox()) ?? {};
  expect(y).toBeGreaterThan(600);
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
  expect(await coveredTexts(page)).toEqual([]);
}

/** Texts and controls of the frame and the page that a toast overlaps. */
function coveredTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const toasts = [...document.querySelectorAll("[data-toast]")].map((toast) => toast.getBoundingClientRect());
    const isCovered = (box: DOMRect) =>
      toasts.some(
        (toast) =>
          Math.min(box.right, toast.right) - Math.max(box.left, toast.left) > 1 &&
          Math.min(box.bottom, toast.bottom) - Math.max(box.top, toast.top) > 1,
      );
    const roots = [...document.querySelectorAll("header, main, aside")];
    const controls = roots.flatMap((root) => [...root.querySelectorAll("a, button, input")]);
    const covered = controls.filter((one) => isCovered(one.getBoundingClientRect()));
    const names = covered.map((one) => one.getAttribute("aria-label") ?? one.textContent ?? "");
    for (const root of roots) {
      const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(texts.currentNode);
        const isShown = texts.currentNode.parentElement?.checkVisibility({ visibilityProperty: true });
        if (isShown && [...range.getClientRects()].some(isCovered)) names.push(texts.currentNode.textContent ?? "");
      }
    }
    return names;
  });
}

async function refuseSignIn(page: Page, times: number): Promise<void> {
  await page.route("**/accounts:signInWithPassword*", (route) =>
    route.fulfill({ status: 400, json: { error: { code: 400, message: "INVALID_LOGIN_CREDENTIALS" } } }),
  );
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Password", { exact: true }).fill("not this one");
  for (let n = 0; n < times; n += 1) {
    const answered = page.waitForResponse(/signInWithPassword/);
    await page.getByRole("button", { name: "Login", exact: true }).click();
    await answered;
  }
}

interface Seen {
  readonly type: string;
  readonly came: number;
  gone?: number;
}

/** Runs in the page: records when each toast opened and closed, in ms. */
function watchToasts(): void {
  const seen = new Map<Element, Seen>();
  Object.assign(globalThis, { seenToasts: () => [...seen.values()] });
  const look = () => {
    const now = performance.now();
    const shown = new Set<Element>(document.querySelectorAll<HTMLElement>("[data-toast]"));
    for (const element of shown) {
      const toast = seen.get(element) ?? { type: element.getAttribute("data-toast") ?? "", came: now };
      seen.set(element, toast);
    }
    for (const [element, toast] of seen) if (!shown.has(element)) toast.gone ??= now;
  };
  new MutationObserver(look).observe(document, {
    childList: true,
    subtree: true,
  });
}

function seen(page: Page): Promise<readonly Seen[]> {
  return page.evaluate(() => (globalThis as unknown as { seenToasts: () => Seen[] }).seenToasts());
}

/** The first toast of this type closes after `durationMs`, for 300 ms. A busy machine may be late, never early. */
async function expectDuration(page: Page, type: string, durationMs: number): Promise<void> {
  const first = async () => (await seen(page)).find((toast) => toast.type === type);
  await expect.poll(async () => (await first())?.gone).toBeDefined();
  const { came = 0, gone = 0 } = (await first()) ?? {};
  expect(gone - came).toBeGreaterThanOrEqual(durationMs + closingMs - 50);
  expect(gone - came).toBeLessThan(durationMs + closingMs + 1_600);
}
