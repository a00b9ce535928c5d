import { mkdirSync } from "node:fs";
import type { Page } from "@playwright/test";
import { environment } from "../../testing/environment.ts";
import { expectTargets } from "./targets.ts";
import { expect, expectAccessible } from "./test.ts";

interface Room {
  readonly width: number;
  readonly height: number;
  readonly colorScheme: "light" | "dark";
}

/** The narrow one is the narrowest phone. Both widths come before the second scheme, so that what closes by itself is seen in both. */
const rooms: readonly Room[] = [
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 360, height: 780, colorScheme: "light" },
  { width: 360, height: 780, colorScheme: "dark" },
  { width: 1440, height: 900, colorScheme: "dark" },
];

/** The only rules whose answer depends on the scheme. */
const colourRules = ["color-contrast", "link-in-text-block"];

const { shots } = environment;
/** Pictures are also taken as the look was drawn. */
const looks = shots ? rooms.flatMap((room) => (room.width === 360 ? [room, { ...room, width: 390 }] : [room])) : rooms;

interface Look {
  /** False where the whole page is not what is looked at: a dialog, a toast. */
  readonly fullPage?: boolean;
  /** What must be there in every room: a menu or a dialog might close when the window changes. */
  readonly stays?: string;
  /** For what exists at one width alone. */
  readonly only?: number;
}

/** Judges what the page shows now, in place, in all four rooms: accessible, nothing scrolls sideways. */
export async function judge(page: Page, name: string, { fullPage = true, stays, only }: Look = {}): Promise<void> {
  await expect(page.locator("h1").first()).toBeVisible();
  await standStill(page);
  for (const { width, height, colorScheme } of looks.filter((room) => !only || room.width === only)) {
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

/** Each look is at what stands: nothing has to come to its end first. */
async function standStill(page: Page): Promise<void> {
  await page.evaluate(() => {
    if (document.adoptedStyleSheets.length > 0) return;
    const still = new CSSStyleSheet();
    still.replaceSync("*, ::before, ::after { transition: none !important }");
    document.adoptedStyleSheets = [still];
  });
}

/** A drawn page reads the scheme once, when it comes; the app follows by itself. What moves comes to its end. */
async function settle(page: Page, colorScheme: string): Promise<void> {
  await page.evaluate(async (scheme) => {
    const key = "data-mantine-color-scheme";
    if (document.documentElement.hasAttribute(key)) document.documentElement.setAttribute(key, scheme);
    const ending = () =>
      document
        .getAnimations()
        .filter((each) => each.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY);
    // With reduced motion every change is a very short transition, and what inherits it begins its own when it ends.
    do {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      await Promise.allSettled(ending().map((each) => each.finished));
    } while (ending().length > 0);
  }, colorScheme);
}
