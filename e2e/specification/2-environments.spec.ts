import { must, until } from "../../testing/customer.ts";
import { seedHistory } from "../../testing/seed.ts";
import { alterReply, everyState, inHours, showContainers } from "../testing/containers.ts";
import { expect, test } from "../testing/test.ts";

test("the list filters and sorts, and keeps its view in the URL (2)", async ({ page, customer: _ }) => {
  const [active] = Object.values(everyState);
  await showContainers(page, {
    a1a3f9c27b0d4e5a: { ...active, subdomain: "alpha-lab", created_at: inHours(-3), expires_at: inHours(21) },
    b2b3f9c27b0d4e5a: {
      ...active,
      subdomain: "beta-lab",
      created_at: inHours(-2),
      expires_at: null,
      status: "stopped",
    },
    c3c3f9c27b0d4e5a: { ...active, subdomain: "gamma-lab", created_at: inHours(-1), expires_at: inHours(1) },
  });
  await page.goto("/environments");
  const shown = async () =>
    (await page.locator("tbody tr:visible strong").allInnerTexts()).map((name) => name.split("-")[0]);
  await expect(page.getByText("Showing 3 of 3 environments")).toBeVisible();
  expect(await shown()).toEqual(["gamma", "beta", "alpha"]);
  await expect(page.getByRole("columnheader")).toHaveText(["Name", "Type", "Status", "Created", "Expires", "Actions"]);
  await expect(page.getByRole("group", { name: "Status" }).getByRole("button")).toHaveText([
    ...["All 3", "Active 2", "Stopped 1", "Paused 0", "Terminated 0", "Pending 0"],
  ]);
  for (const head of ["Type", "Status", "Created", "Expires"]) {
    const column = page.getByRole("columnheader", { name: head });
    await column.getByRole("button").click();
    await expect(column, head).toHaveAttribute("aria-sort", /ascending|descending/);
  }

  await page.getByRole("button", { name: "Name", exact: true }).click();
  await expect.poll(shown).toEqual(["alpha", "beta", "gamma"]);
  await page.getByRole("button", { name: /^Stopped/ }).click();
  await expect(page.getByText("Showing 1 of 3 environments")).toBeVisible();
  expect(await shown()).toEqual(["beta"]);
  await page.reload();
  await expect(page.getByText("Showing 1 of 3 environments")).toBeVisible();
  await page.getByRole("button", { name: "Clear All" }).first().click();
  await expect(page.getByText("Showing 3 of 3 environments")).toBeVisible();

  await page.getByRole("textbox", { name: /search/i }).fill("a1a3f9c2");
  await expect(page.getByText("Showing 1 of 3 environments")).toBeVisible();
  expect(await shown()).toEqual(["alpha"]);
  await page.getByRole("textbox", { name: /search/i }).fill("");
  await page.getByRole("combobox", { name: "Sort" }).click();
  await page.getByRole("option", { name: "Expires Soon" }).click();
  await expect.poll(shown).toEqual(["gamma", "alpha", "beta"]);
});

test("a malformed name is refused at the field, and a dismissed payment leaves no environment (4, 5, G13)", async ({
  page,
  product,
  customer: ada,
}) => {
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
