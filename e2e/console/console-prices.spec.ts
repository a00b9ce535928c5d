import { expect, openScreen, test } from "../testing/console.ts";
import { checkScreen } from "../testing/viewports.ts";

test("Prices and terms: what is in force, what comes and when, where each type is prepared, and what changes it", async ({
  operator: _,
  page,
}) => {
  await page.route("**/operator/api/catalogue", async (route) => {
    const json = await (await route.fetch()).json();
    const [now] = json.prices;
    const coming = { ...now, from: "2999-01-01", state: "coming", rows: now.rows.slice(0, 2), hours: [1, 168] };
    const terms = [{ from: "2999-01-01", summary: "Environments that are idle for a day are stopped." }];
    const [first, ...types] = json.types;
    const none = { percent: null, message: "", can_prepare: false };
    const images = [
      { ...none, host_id: "gpu-1", state: "unavailable", message: "npm run images -- jupyter prepares it" },
      { ...none, host_id: "gpu-2", state: "preparing", percent: 40 },
      { ...none, host_id: "local", state: "unavailable", can_prepare: true },
    ];
    const notice = { title: "Prices change on Jan 1, 2999", body: "One GPU is $0.30 an hour then." };
    const announced = [{ ...notice, created_at: "2026-11-20T12:00:00.000Z", done: false }];
    await route.fulfill({
      json: { ...json, terms, announced, types: [{ ...first, images }, ...types], prices: [...json.prices, coming] },
    });
  });
  await openScreen(page, "/prices", "Prices and terms");
  const current = page.getByRole("region", { name: "Prices from Jan 1, 2026" });
  await expect(current).toContainText("In force");
  await expect(current.getByRole("row", { name: /^8 GPUs/ })).toContainText("$1,200.00");
  await expect(current).toContainText("₹88.22 for a dollar, rounded to ₹1");
  const coming = page.getByRole("region", { name: "Prices from Jan 1, 2999" });
  await expect(coming).toContainText("Coming");
  await expect(coming).toContainText("1 hour, 1 week");
  await expect(page.getByRole("row", { name: /JupyterLab/ })).toContainText("npm run images -- jupyter prepares it");
  await expect(page.getByRole("row", { name: /JupyterLab/ })).toContainText("Being prepared, 40%");
  await expect(page.getByRole("region", { name: "Terms" })).toContainText("From Jan 1, 2999");
  await expect(page.getByRole("region", { name: "Announced" })).toContainText("Being sent");
  await expect(page.getByRole("button", { name: /catalogue check catalogue\.json/ })).toBeVisible();
  await checkScreen(page, "console-prices");
  await page.getByRole("button", { name: "Prepare JupyterLab on local" }).click();
  const dialog = page.getByRole("dialog", { name: "Prepare JupyterLab" });
  await dialog.getByLabel("Reason").fill("A class needs it");
  await dialog.getByRole("button", { name: "Prepare" }).click();
  await expect(page.getByText("jupyter is prepared already")).toBeVisible();

  const json = { status: "error", code: "forbidden", message: "Broken", detail: "" };
  await page.route("**/operator/api/catalogue", (route) => route.fulfill({ status: 403, json }));
  await page.reload();
  await expect(page.getByRole("alert")).toContainText("The catalogue could not be read");
});
