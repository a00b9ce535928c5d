import type { Page } from "@playwright/test";
import { create, orderAndPay } from "../testing/customer.ts";
import { newNotebook, openSession, runCell } from "./testing/jupyter.ts";
import { expect, test } from "./testing/test.ts";

test("JupyterLab's terminal uses the home's python and pip; widgets and progress bars update, also after a restart", async ({
  page,
  product,
  customer,
}) => {
  test.setTimeout(180_000);
  const subdomain = `inside-${Date.now().toString(36)}`;
  // Before a container starts: that changes the machine's network interfaces, and Chromium drops what it is loading.
  await page.goto("/environments");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await create(
    product.url,
    customer,
    await orderAndPay(product.url, customer, { subdomain, gpuCount: 1, duration: 1 }),
  );
  const row = page.locator("tr[data-status]", { hasText: subdomain });
  const link = row.getByRole("link", { name: "Open Session" });

  const session = await openSession(page, link);
  await typeIntoTerminal(session, "(python -c 'import sys; print(sys.prefix)'; pip --version) > new; mv new where.txt");
  await session.locator('.jp-FileBrowser [data-command="launcher:create"]').first().click();
  await newNotebook(session);
  const look = "import os, time; [time.sleep(0.1) for _ in range(200) if not os.path.exists('where.txt')]";
  await runCell(session, `${look}; print(open('where.txt').read())`, "/.local/python");
  await expect(session.locator(".jp-OutputArea-output", { hasText: /pip [\d.]+ from/ })).toBeVisible();
  await showWidgets(session);

  await row.getByRole("button", { name: "Stop" }).click();
  await expect(row).toContainText("Stopped");
  await row.getByRole("button", { name: "Restart" }).click();
  await expect(row).toContainText("Active", { timeout: 30_000 });
  await session.close();
  const again = await openSession(page, link);
  await newNotebook(again);
  await showWidgets(again);
});

/** The terminal draws on a canvas, so the command writes its result to a file. */
async function typeIntoTerminal(session: Page, line: string): Promise<void> {
  await session.locator('.jp-LauncherCard[data-category="Other"]', { hasText: "Terminal" }).click();
  const input = session.locator(".jp-Terminal .xterm-helper-textarea");
  await input.focus();
  await input.pressSequentially(line);
  await input.press("Enter");
}

async function showWidgets(session: Page): Promise<void> {
  await runCell(session, "import ipywidgets; ipywidgets.IntSlider(7, description='SLIDE')", "SLIDE");
  await expect(session.locator(".widget-hslider .noUi-handle").last()).toBeVisible();
  await runCell(session, "from tqdm.auto import tqdm; print(sum(tqdm(range(20))))", "190");
  await expect(session.locator(".jp-OutputArea-output .jupyter-widgets", { hasText: "20/20" }).last()).toBeVisible();
}
