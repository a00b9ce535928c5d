import type { Page } from "@playwright/test";
import { expect } from "./test.ts";

/** Opens JupyterLab by its link, as its owner does. */
export async function openSession(page: Page, link: ReturnType<Page["getByRole"]>): Promise<Page> {
  const [session] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
  await session.waitForURL(/\/lab/);
  // JupyterLab says so when it asked while the environment was paused, and goes on by itself.
  const lost = session.locator(".jp-Dialog", { hasText: "Server Connection Error" });
  await session.addLocatorHandler(lost, () => lost.getByRole("button").last().click());
  await expect(session.locator("#jp-main-dock-panel")).toBeVisible({ timeout: 30_000 });
  return session;
}

/** From the launcher; where JupyterLab opened an earlier notebook again, it asks for the kernel to run it with. */
export async function newNotebook(session: Page): Promise<void> {
  const launcher = session.locator('.jp-LauncherCard[data-category="Notebook"]');
  const kernel = session.locator(".jp-Dialog .jp-mod-accept");
  await launcher.or(kernel).first().click();
  await expect(session.locator(".jp-Notebook")).toBeVisible();
}

/** Types a line into the last cell and runs it; comes back when its output stands there. */
export async function runCell(session: Page, code: string, output: string): Promise<void> {
  // What is run before the kernel has answered for the first time is dropped without a word.
  await expect(session.locator("#jp-main-statusbar")).toContainText("| Idle", { timeout: 30_000 });
  const cell = session.locator(".jp-CodeCell").last();
  await cell.locator(".cm-content").click();
  await session.keyboard.type(code);
  await session.keyboard.press("Shift+Enter");
  await expect(session.locator(".jp-OutputArea-output", { hasText: output }).first()).toBeVisible({ timeout: 30_000 });
}
