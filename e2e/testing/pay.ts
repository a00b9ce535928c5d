import type { Page } from "@playwright/test";
import { expect } from "./test.ts";

/** Fills in the card in the embedded provider's dialog and pays. */
export async function payInDialog(page: Page, number = "5555 5555 5555 4444"): Promise<void> {
  const dialog = page.frameLocator("iframe");
  await expect(dialog.getByRole("button", { name: /^Pay/ })).toBeVisible();
  // In rupees UPI comes first (G365).
  const byCard = dialog.getByRole("radio", { name: "Card" });
  if ((await byCard.count()) > 0) await byCard.check();
  await dialog.getByLabel("Card number").fill(number);
  await dialog.getByLabel("Expiry").fill("12/34");
  await dialog.getByLabel("CVV").fill("123");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
}

/** Goes from step 1 to step 4 of the launch page with its defaults and this name. */
export async function toLastStep(page: Page, name: string): Promise<void> {
  await page.goto("/environments/create");
  await expect(page.getByRole("radio", { name: "JupyterLab" })).toBeEnabled();
  // Two clicks before a render would count as one step.
  for (const next of [2, 3]) {
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByRole("region", { name: `Step ${next}:` })).toBeVisible();
  }
  await page.getByLabel("Subdomain").fill(name);
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByRole("button", { name: "Launch" })).toBeEnabled();
}
