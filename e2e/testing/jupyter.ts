import type { Page } from "@playwright/test";
import { expect } from "./test.ts";

/** Opens JupyterLab by the owner's link. */
export async function openSession(page: Page, link: ReturnType<Page["getByRole"]>): Promise<Page> {
  const [session] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
  await session.waitForURL(/\/lab/);
  await expect(session.locator("#jp-main-dock-panel")).toBeVisible({ timeout: 30_000 });
  return session;
}

/** From the launcher, or from the kernel dialog if JupyterLab has reopened an earlier notebook. */
export async function newNotebook(session: Page): Promise<void> {
  const launcher = session.locator('.jp-LauncherCard[data-category="Notebook"]');
  const kernel = session.locator(".jp-Dialog .jp-mod-accept");
  await launcher.or(kernel).first().click();
  await expect(session.locator(".jp-Notebook")).toBeVisible();
}

/** Runs a line in the last cell and waits for its output. */
export async function runCell(session: Page, code: string, output: string): Promise<void> {
  // JupyterLab silently drops cells that run before the kernel's first reply.
  await expect(session.locator("#jp-main-statusbar")).toContainText("| Idle", { timeout: 30_000 });
  const cell = session.locator(".jp-CodeCell").last();
  await cell.locator(".cm-content").click();
  await session.keyboard.type(code);
  await session.keyboard.press("Shift+Enter");
  await expect(session.locator(".jp-OutputArea-output", { hasText: output }).first()).toBeVisible({ timeout: 30_000 });
}
