import type { Page } from "@playwright/test";
import { expect, test } from "./testing/test.ts";

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
