import { expect, type Locator, type Page } from "@playwright/test";

/** A toast with this text, whatever its title. */
export function toastOf(page: Page, text: string): Locator {
  return page.locator("[data-toast]", { hasText: text });
}

/** Stops the page's clock: from here its time passes only where a test lets it. Needs `clock.install` before the page. */
export async function freeze(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1_000);
}

const closingMs = 300;
const tickMs = 20;

/**
 * Lets time pass until the toast is there, and then for so long as it should stay: it is still there just before
 * the end, and gone after it and the 300 ms of its closing (spec 9).
 */
export async function expectToast(page: Page, text: string, title: string, durationMs: number): Promise<void> {
  const toast = toastOf(page, text);
  await passUntilVisible(page, toast, tickMs);
  await expect(toast).toHaveText(new RegExp(`^${escaped(title)}${escaped(text)}`));
  await page.clock.runFor(durationMs - 200);
  await expect(toast, `${text} stays ${durationMs} ms`).toBeVisible();
  await page.clock.runFor(200 + closingMs + 200);
  await expect(toast, `${text} is gone after ${durationMs} ms`).toBeHidden();
}

/** Time passes, in steps that suit what is waited for, until the page shows it. */
export async function passUntilVisible(page: Page, locator: Locator, stepMs = 100): Promise<void> {
  const look = async () => {
    if (!(await locator.isVisible())) await page.clock.runFor(stepMs);
    return locator.isVisible();
  };
  await expect.poll(look, { intervals: [10] }).toBe(true);
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
