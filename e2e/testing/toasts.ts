import { expect, type Locator, type Page } from "@playwright/test";

/** The toast with this text and any title. */
export function toastOf(page: Page, text: string): Locator {
  return page.locator("[data-toast]", { hasText: text });
}

/** Pauses the page's clock, which then only advances by `clock.runFor`. Needs `clock.install` before. */
export async function freeze(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1_000);
}

const closingMs = 300;
const tickMs = 20;

/**
 * Advances the clock until the toast appears, then asserts that it is visible until just before `durationMs` and hidden
 * after its closing animation of 300 ms (spec 9).
 */
export async function expectToast(page: Page, text: string, title: string, durationMs: number): Promise<void> {
  const toast = toastOf(page, text);
  await advanceUntilVisible(page, toast, tickMs);
  await expect(toast).toHaveText(new RegExp(`^${escaped(title)}${escaped(text)}`));
  await page.clock.runFor(durationMs - 200);
  await expect(toast, `${text} stays ${durationMs} ms`).toBeVisible();
  await page.clock.runFor(200 + closingMs + 200);
  await expect(toast, `${text} is gone after ${durationMs} ms`).toBeHidden();
}

/** Advances the clock in steps until the locator is visible. */
export async function advanceUntilVisible(page: Page, locator: Locator, stepMs = 100): Promise<void> {
  const isVisible = async () => {
    if (!(await locator.isVisible())) await page.clock.runFor(stepMs);
    return locator.isVisible();
  };
  await expect.poll(isVisible, { intervals: [10] }).toBe(true);
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
