import { everyState, showContainers } from "../testing/containers.ts";
import { expect, test } from "../testing/test.ts";
import { freeze } from "../testing/toasts.ts";

test("each status offers its actions and no others; running is active (G26, G29)", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  const [first] = Object.values(everyState);
  await showContainers(page, { ...everyState, r0: { ...first, status: "running", subdomain: "running-one" } });
  await page.goto("/environments");
  await expect(page.getByText("Showing 8 of 8 environments")).toBeVisible();
  const offered = async (name: string) => {
    const cell = page
      .getByRole("row", { name: new RegExp(name) })
      .getByRole("cell")
      .last();
    return (await cell.innerText()).split("\n").filter(Boolean).sort();
  };
  for (const [name, actions] of [
    ["resnet-lab", ["Open Session", "Pause", "Stop"]],
    ["running-one", ["Open Session", "Pause", "Stop"]],
    ["a-name-of-forty", ["Restart", "Stop"]],
    ["kaggle-night", ["Restart", "Stop"]],
    ["old-one", ["Terminated"]],
    ["Container-6f3f9c27", ["Unknown Status"]],
    ["whisper-small", ["Cancel"]],
  ] as const)
    expect(await offered(name), name).toEqual(actions);
  // Only the label, no menu.
  await expect(
    page
      .getByRole("row", { name: /old-one/ })
      .getByRole("cell")
      .last()
      .getByRole("button"),
  ).toHaveCount(0);
  await expect(page.getByRole("row", { name: /whisper-small/ })).toContainText("Starting: pulling image 42%");
  const session = page.getByRole("row", { name: /resnet-lab/ }).getByRole("link", { name: "Open Session" });
  await expect(session).toHaveAttribute("target", "_blank");
  await expect(session).toHaveAttribute("href", /^http:\/\/resnet-lab\.localhost:\d+\/?$/);
});

test("while an action runs its row is busy and the others are not; the list is read again 1.5 s later (9, G30)", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  await showContainers(page, everyState);
  await page.clock.install();
  await page.goto("/environments?status=active&sort=name-asc");
  const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
  await expect(row("resnet-lab")).toBeVisible();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/docker/pause_container/**", async (route) => {
    await held;
    await route.fulfill({ json: { status: "success" } });
  });
  await freeze(page);
  await row("resnet-lab").getByRole("button", { name: "Pause" }).click();
  await expect(row("resnet-lab").getByRole("button", { name: "Pausing..." })).toBeDisabled();
  for (const name of ["Stop", "Open Session"])
    await expect(row("resnet-lab").getByRole("button", { name })).toBeDisabled();
  await expect(row("thesis").getByRole("button", { name: "Pause" })).toBeEnabled();
  let reads = 0;
  page.on("request", (request) => {
    if (request.url().includes("/profile/")) reads += 1;
  });
  release();
  await expect(page.getByText("Environment resnet-lab paused")).toBeVisible();
  await page.clock.runFor(1_400);
  expect(reads).toBe(0);
  await page.clock.runFor(200);
  await expect.poll(() => reads).toBe(1);
  await expect(page).toHaveURL(/\?status=active&sort=name-asc$/);
});

test("a 401 causes one refresh and one retry; a second 401 signs out", async ({ page, customer: _ }) => {
  await page.goto("/dashboard");
  let refreshes = 0;
  let refusals = 1;
  page.on("request", (request) => {
    if (/\/token\?key=/.test(request.url())) refreshes += 1;
  });
  await page.route("**/billing/*", (route) =>
    refusals-- > 0
      ? route.fulfill({ status: 401, json: { status: "error", code: "unauthenticated", message: "x", detail: "x" } })
      : route.continue(),
  );
  await page.getByRole("link", { name: "Billing" }).click();
  await expect(page.getByText("No spending data available yet")).toBeVisible();
  expect(refreshes).toBe(1);
  refusals = 2;
  await page.reload();
  await page.waitForURL(/\/login/);
  await expect.poll(() => page.evaluate(() => localStorage.getItem("idToken"))).toBeNull();
});

test("tabs of billing and settings follow the URL; unknown ones fall back to the first", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  for (const [path, names] of [
    ["/billing", ["Overview", "Payment History"]],
    ["/settings", ["Profile", "Password"]],
  ] as const) {
    await page.goto(`${path}?tab=nonsense`);
    const tabs = page.getByRole("tab");
    await expect(tabs.first()).toHaveAttribute("aria-selected", "true");
    expect((await tabs.allInnerTexts()).slice(0, 2)).toEqual(names);
  }
});
