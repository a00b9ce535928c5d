import { create, must, orderAndPay, signUp, until } from "../../testing/customer.ts";
import { seedHistory } from "../../testing/seed.ts";
import { alterReply } from "../testing/containers.ts";
import { expect, signIn, test } from "../testing/test.ts";

test("the list filters and sorts, and keeps its view in the URL (2)", async ({ page, product }) => {
  test.setTimeout(150_000);
  const ada = await signUp(product.url);
  const stamp = Date.now().toString(36);
  const names = ["alpha", "beta", "gamma"].map((name) => `${name}-${stamp}`);
  const ids: string[] = [];
  for (const [n, subdomain] of names.entries()) {
    const paid = await orderAndPay(product.url, ada, { subdomain, gpuCount: 1, duration: n === 0 ? 24 : 1 });
    ids.push((await create(product.url, ada, paid)).body.environment_id);
  }
  await must(product.url, "POST", `/docker/stop_container/${ids[1]}/${ada.userId}`, { token: ada.idToken, body: {} });
  await until("beta to stop", async () => {
    const { environment } = await must(product.url, "GET", `/environments/${ids[1]}`, { token: ada.idToken });
    return environment.status === "stopped";
  });
  await signIn(page, ada);
  await page.goto("/environments");
  const shown = async () =>
    (await page.locator("tbody tr:visible strong").allInnerTexts()).map((name) => name.split("-")[0]);
  await expect(page.getByText("Showing 3 of 3 environments")).toBeVisible();
  expect(await shown()).toEqual(["gamma", "beta", "alpha"]);

  await page.getByRole("button", { name: "Name", exact: true }).click();
  await expect.poll(shown).toEqual(["alpha", "beta", "gamma"]);
  await page.getByRole("button", { name: /^Stopped/ }).click();
  await expect(page.getByText("Showing 1 of 3 environments")).toBeVisible();
  expect(await shown()).toEqual(["beta"]);
  await page.reload();
  await expect(page.getByText("Showing 1 of 3 environments")).toBeVisible();
  await page.getByRole("button", { name: "Clear All" }).first().click();
  await expect(page.getByText("Showing 3 of 3 environments")).toBeVisible();

  await page.getByRole("textbox", { name: /search/i }).fill(ids[0]?.slice(0, 8) ?? "");
  await expect(page.getByText("Showing 1 of 3 environments")).toBeVisible();
  expect(await shown()).toEqual(["alpha"]);
  await page.getByRole("textbox", { name: /search/i }).fill("");
  await page.getByRole("combobox", { name: "Sort" }).click();
  await page.getByRole("option", { name: "Expires Soon" }).click();
  await expect.poll(shown).toEqual(["gamma", "alpha", "beta"]);

  const row = page.getByRole("row", { name: new RegExp(names[2] ?? "") });
  await row.getByRole("button", { name: "Pause" }).click();
  await expect(row).toContainText("Paused");
  await row.getByRole("button", { name: "Restart" }).click();
  await expect(row).toContainText("Active");
  for (const id of ids)
    await must(product.url, "POST", `/environments/${id}/terminate`, {
      token: ada.idToken,
      body: { confirm: names[ids.indexOf(id)] },
    });
});

test("a malformed name is refused at the field, and a dismissed payment leaves no environment (4, 5, G13)", async ({
  page,
  product,
}) => {
  const ada = await signUp(product.url);
  await signIn(page, ada);
  const name = `cleared-${Date.now().toString(36)}`;
  await page.goto("/environments/create");
  await expect(page.getByRole("radio", { name: /^JupyterLab/ })).toBeEnabled();
  for (const _ of [1, 2]) await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Subdomain").fill("WWW");
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByText(/lower-case letters, digits and hyphens/).first()).toBeVisible();
  await page.getByLabel("Subdomain").fill(name);
  await expect(page.getByText(/is free/).first()).toBeVisible();
  await page.getByRole("button", { name: "Continue" }).click();
  const freeSlots = async (): Promise<number> => (await must(product.url, "GET", "/capacity")).free;
  const before = await freeSlots();
  await page.getByRole("button", { name: "Launch" }).click();
  const dismiss = page.frameLocator("iframe").getByRole("button", { name: "Cancel payment" });
  await expect(dismiss).toBeVisible();
  expect(await freeSlots()).toBe(before - 2);
  await dismiss.click();
  await expect(page.getByText("Payment cancelled. Cleaning up...")).toBeVisible();
  await until("the hold to be released", async () => (await freeSlots()) === before);
  const check = await must(product.url, "GET", `/subdomains/${name}`, { token: ada.idToken });
  expect(check.available).toBe(true);

  await page.getByRole("link", { name: "Back" }).click();
  await page.waitForURL("**/dashboard");
});

test("on a machine that cannot pause, Pause is disabled with the reason", async ({ page, product, customer }) => {
  await seedHistory(product, customer, { count: 1, prefix: `cold-${Date.now().toString(36)}` });
  await alterReply(page, `**/profile/${customer.userId}`, (answer) => {
    for (const one of Object.values<{ can_pause: boolean }>(answer.user_data.containers)) one.can_pause = false;
    return answer;
  });
  await page.goto("/environments");
  const pause = page.getByRole("button", { name: /^Pause\. This machine cannot pause/ });
  await expect(pause).toBeDisabled();
  await expect(page.getByRole("button", { name: "Stop", exact: true })).toBeEnabled();
});

test("typing while a long list is filtered loses no letter (9)", async ({ page, product, customer }) => {
  await seedHistory(product, customer, { count: 200, prefix: `n${Date.now().toString(36)}-many` });
  await page.goto("/environments");
  await expect(page.getByText("Showing 200 of 200 environments")).toBeVisible();
  const box = page.getByRole("textbox", { name: /search/i });
  await box.pressSequentially("many-150", { delay: 310 });
  await expect(box).toHaveValue("many-150");
  await expect(page.getByText("Showing 1 of 200 environments")).toBeVisible();
});
