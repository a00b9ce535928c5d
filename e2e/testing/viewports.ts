import { mkdirSync } from "node:fs";
import type { Page } from "@playwright/test";
import { environment } from "../../testing/environment.ts";
import { expectTargets } from "./targets.ts";
import { expect, expectAccessible } from "./test.ts";

interface Viewport {
  readonly width: number;
  readonly height: number;
  readonly colorScheme: "light" | "dark";
}

/** Both widths come before the second scheme, so that a toast is still open at both. */
const viewports: readonly Viewport[] = [
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 360, height: 780, colorScheme: "light" },
  { width: 360, height: 780, colorScheme: "dark" },
  { width: 1440, height: 900, colorScheme: "dark" },
];

/** The only rules that depend on the scheme. */
const colourRules = ["color-contrast", "link-in-text-block"];

const { shots } = environment;
/** Screenshots are also taken at the width of the design. */
const captured = shots
  ? viewports.flatMap((each) => (each.width === 360 ? [each, { ...each, width: 390 }] : [each]))
  : viewports;

interface Options {
  /** False for a dialog or a toast. */
  readonly fullPage?: boolean;
  /** A selector that must stay visible when the window is resized, for a menu or a dialog. */
  readonly stays?: string;
  /** Only at this width. */
  readonly only?: number;
}

/** Checks the current page at both widths and in both schemes: axe, target sizes, no horizontal scrolling. */
export async function checkScreen(
  page: Page,
  name: string,
  { fullPage = true, stays, only }: Options = {},
): Promise<void> {
  await expect(page.locator("h1").first()).toBeVisible();
  await disableTransitions(page);
  for (const { width, height, colorScheme } of captured.filter((each) => !only || each.width === only)) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await settle(page, colorScheme);
    if (stays) await expect(page.locator(stays).first(), name).toBeVisible();
    const full = colorScheme === "light";
    await expectAccessible(page, full ? undefined : colourRules);
    if (full) await expectTargets(page, `${name}-${width}`, width === 360);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow, `${name} scrolls sideways at ${width} px`).toBeLessThanOrEqual(0);
    if (shots) {
      mkdirSync(shots, { recursive: true });
      await page.screenshot({ path: `${shots}/${name}-${width}-${colorScheme}.png`, fullPage });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
}

/** Disables transitions. */
async function disableTransitions(page: Page): Promise<void> {
  await page.evaluate(() => {
    if (document.adoptedStyleSheets.length > 0) return;
    const still = new CSSStyleSheet();
    still.replaceSync("*, ::before, ::after { transition: none !important }");
    document.adoptedStyleSheets = [still];
  });
}

/** Sets the scheme of a prerendered page, which reads it only once, and waits for animations to end. */
async function settle(page: Page, colorScheme: string): Promise<void> {
  await page.evaluate(async (scheme) => {
    const key = "data-mantine-color-scheme";
    if (document.documentElement.hasAttribute(key)) document.documentElement.setAttribute(key, scheme);
    const ending = () =>
      document
        .getAnimations()
        // One that keeps its last state is listed as long as it does.
        .filter((each) => each.playState !== "finished")
        .filter((each) => each.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY);
    // With reduced motion every change is a very short transition, whose end may start another.
    do {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      await Promise.allSettled(ending().map((each) => each.finished));
    } while (ending().length > 0);
  }, colorScheme);
}
