import type { Locator } from "@playwright/test";
import { must, until } from "../../testing/customer.ts";
import { seedHistory } from "../../testing/seed.ts";
import { alterReply, everyState, inHours, showContainers } from "../testing/containers.ts";
import { countRenders, takeRenders } from "../testing/count-renders.ts";
import { expect, test } from "../testing/test.ts";
import { toastOf } from "../testing/toasts.ts";

test("the list filters and sorts, and keeps its view in the URL (2)", async ({ page, customer: _ }) => {
  const [active] = Object.values(everyState);
  await showContainers(page, {
    a1a3f9c27b0d4e5a: {
      ...active,
      type: "tensorflow",
      subdomain: "alpha-lab",
      created_at: inHours(-3),
      expires_at: inHours(21),
    },
    b2b3f9c27b0d4e5a: {
      ...active,
      type: "jupyter",
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
  for (const [head, order] of [
    ["Type", ["beta", "gamma", "alpha"]],
    ["Status", ["gamma", "alpha", "beta"]],
    ["Created", ["gamma", "beta", "alpha"]],
    ["Expires", ["gamma", "alpha", "beta"]],
  ] as const) {
    const column = page.getByRole("columnheader", { name: head });
    await column.getByRole("button").click();
    await expect(column, head).toHaveAttribute("aria-sort", /ascending|descending/);
    await expect.poll(shown, { message: head }).toEqual(order);
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

  // The time left goes on while nothing renders the row.
  const stop = page.locator("tr", { hasText: "alpha-lab" }).getByRole("button", { name: "Stop", exact: true });
  await page.clock.setFixedTime(inHours(1));
  await stop.hover();
  await expect(stop).toHaveAttribute("title", /and 19h \d+m stays yours/);
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

test("a long name stays on one line, Stop stands in one column, and several are stopped at once (2, G340)", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  await showContainers(page, everyState);
  await page.goto("/environments");
  await expect(page.getByText("Showing 7 of 7 environments")).toBeVisible();
  const boxesOf = async (locator: Locator) => {
    const boxes = await Promise.all((await locator.all()).map((one) => one.boundingBox()));
    return boxes.filter((box) => box !== null);
  };
  const stops = await boxesOf(page.getByRole("button", { name: "Stop", exact: true }));
  expect(stops).toHaveLength(4);
  expect(new Set(stops.map(({ x, width }) => x + width)).size).toBe(1);
  const names = await boxesOf(page.locator("tbody strong a"));
  expect(new Set(names.map(({ height }) => height)).size).toBe(1);
  await expect(page.getByTitle("a-name-of-forty-characters-is-the-longest")).toBeVisible();

  const stopped: string[] = [];
  await page.route("**/docker/stop_container/**", async (route) => {
    stopped.push(new URL(route.request().url()).pathname.split("/")[3] ?? "");
    await route.fulfill({ json: { status: "success" } });
  });
  await page.getByRole("checkbox", { name: "Select thesis" }).focus();
  await page.keyboard.press("Space");
  await expect(page.getByRole("button", { name: "Stop 1 environment" })).toBeVisible();
  await expect(page.getByText("Stop: memory goes, files stay.")).toBeVisible();
  await page.getByRole("checkbox", { name: "Select all that can be stopped" }).click();
  await page.getByRole("button", { name: "Stop 3 environments" }).click();
  await expect(toastOf(page, "3 environments stopped and cleaned up")).toBeVisible();
  await expect(page.locator("[data-toast]")).toHaveCount(1);
  expect(stopped.sort()).toEqual(["1a3f9c27b0d4e5a6", "2b3f9c27b0d4e5a6", "3c3f9c27b0d4e5a6"]);
  await expect(page.getByRole("link", { name: "Create New Environment" })).toBeVisible();

  await page.setViewportSize({ width: 390, height: 844 });
  const [search] = await boxesOf(page.getByRole("textbox", { name: /search/i }));
  const [create] = await boxesOf(page.getByRole("link", { name: "Create New Environment" }));
  expect(create?.y).toBeGreaterThan((search?.y ?? 0) + (search?.height ?? 0) - 1);
});

test("typing while a long list is filtered loses no letter, and renders no row again (9, G340)", async ({
  page,
  product,
  customer,
}) => {
  await seedHistory(product, customer, { count: 200, prefix: `n${Date.now().toString(36)}-many` });
  const names = [{ name: "former-one", reserved_until: inHours(48) }];
  await alterReply(page, "**/files", (answer) => ({ ...answer, files: [keptFixture], names }));
  await countRenders(page);
  await page.goto("/environments");
  await expect(page.getByText("Showing 200 of 200 environments")).toBeVisible();
  await expect(page.getByRole("region", { name: "Kept files" })).toBeVisible();
  // The rows that the first paint left out.
  await expect(page.locator("tbody tr")).toHaveCount(202);
  await expect(page.locator("tbody tr").first()).toContainText(".localhost");
  // What this installation rents is asked apart, and renders every row again when it is there.
  await expect(page.locator("tbody tr").first()).toContainText(/\d slots?/);
  expect((await takeRenders(page)).rows).toBeGreaterThan(200);
  const box = page.getByRole("textbox", { name: /search/i });
  await box.fill("many-1");
  await expect(page.getByText("Showing 100 of 200 environments")).toBeVisible();
  await box.fill("many");
  await expect(page.getByText("Showing 200 of 200 environments")).toBeVisible();
  expect(await takeRenders(page)).toEqual({ rows: 0, formats: 0 });
  await box.fill("");
  await box.pressSequentially("many-150", { delay: 310 });
  await expect(box).toHaveValue("many-150");
  await expect(page.getByText("Showing 1 of 200 environments")).toBeVisible();
});

const keptFixture = {
  ...{ environment_id: "kept-one", former_id: null, subdomain: "kept-one", container_type: "jupyter" },
  ...{ gpu_count: 1, duration_hours: 1, size_mb: 3, files_until: inHours(48), banked_seconds: 0 },
};
