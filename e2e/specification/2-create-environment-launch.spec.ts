import type { Page, Route } from "@playwright/test";
import { must } from "../../testing/customer.ts";
import { jsonReply, mockCalls, networkError } from "../testing/mock-calls.ts";
import { payInDialog, toLastStep } from "../testing/pay.ts";
import { expect, test } from "../testing/test.ts";

test("the token is shown once and gone after a reload (G41, G94)", async ({ page, customer, product }) => {
  test.setTimeout(120_000);
  const name = `token-${Date.now().toString(36)}`;
  await page.clock.install();
  await toLastStep(page, name);
  await page.evaluate(() => {
    const passed: string[] = [];
    Object.assign(window, { passed });
    const push = history.pushState;
    history.pushState = function pushState(state, ...rest) {
      passed.push(JSON.stringify(state));
      return push.call(this, state, ...rest);
    };
  });
  const { promise: looked, resolve: answer } = Promise.withResolvers<void>();
  await mockCalls(page, "**/docker/environment/create", async (route) => {
    await looked;
    await route.continue();
  });
  await page.getByRole("button", { name: "Launch" }).click();
  await expect(page.getByText("Waiting for the payment...")).toBeVisible();
  await payInDialog(page);
  await expect(page.getByText("Payment successful! Creating your environment...")).toBeVisible();
  await expectLaunchOverlay(page);
  await page.clock.pauseAt(Date.now() + 60_000);
  answer();
  await expect(page.getByText("Environment ready! Redirecting...").first()).toBeVisible({ timeout: 45_000 });
  await page.clock.runFor(1_900);
  // The next page is a chunk of its own; a premature redirect would need a moment to load it.
  await expect(page.waitForURL("**/environments", { timeout: 1_000 })).rejects.toThrow();
  await page.clock.runFor(100);
  await page.waitForURL("**/environments");
  await page.clock.resume();
  const card = page.getByRole("region", { name: "New environment" });
  await expect(card).toContainText("Your environment is ready.");
  const [id] = Object.keys(
    (await must(product.url, "GET", `/profile/${customer.userId}`, { token: customer.idToken })).user_data.containers,
  );
  const { environment } = await must(product.url, "GET", `/environments/${id}`, { token: customer.idToken });
  await expect(card).toContainText(environment.jupyter_token);
  const passed = await page.evaluate(() => (window as unknown as { passed: string[] }).passed);
  expect(passed.at(-1)).toContain(`"jupyter_token":"${environment.jupyter_token}"`);
  expect(await page.evaluate(() => JSON.stringify(history.state))).not.toContain(environment.jupyter_token);
  await page.reload();
  await expect(page.getByText("Showing 1 of 1 environments")).toBeVisible();
  await expect(card).toBeHidden();
  await page.goto("/dashboard");
  await page.goBack();
  await expect(page.getByText("Showing 1 of 1 environments")).toBeVisible();
  await expect(card).toBeHidden();
  await page.getByRole("button", { name: "Jupyter password" }).click();
  await expect(page.getByText(environment.jupyter_token)).toBeVisible();
  await must(product.url, "POST", `/environments/${id}/terminate`, {
    token: customer.idToken,
    body: { confirm: name },
  });
});

/** Over the whole window, with the timeline in it and the focus inside; nothing below it can be clicked (G302). */
async function expectLaunchOverlay(page: Page): Promise<void> {
  const overlay = page.locator("[data-overlay]");
  await expect(overlay.getByText("Answers at its address").or(overlay.getByText("Starting: "))).not.toHaveCount(0);
  expect(await overlay.boundingBox()).toEqual({ x: 0, y: 0, width: 1440, height: 900 });
  const covered = await page.locator("aside a, aside button, header a, header button").evaluateAll((below) =>
    below.map((each) => {
      const { x, y, width, height } = each.getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2)?.closest("[data-overlay]") !== null;
    }),
  );
  expect(covered.length).toBeGreaterThan(8);
  expect(covered).not.toContain(false);
  for (let tab = 0; tab < 4; tab += 1) {
    expect(await page.evaluate(() => document.activeElement?.closest("[data-overlay]") !== null)).toBe(true);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Escape");
  await expect(overlay).toBeVisible();
  // Nor do the commands open over it: nobody takes Ctrl K.
  const isLeft = () => dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, cancelable: true }));
  expect(await page.evaluate(isLeft)).toBe(true);
}

test("a launch whose server is away after the payment says so, keeps no draft, and goes on by itself (G302)", async ({
  page,
  customer,
}) => {
  const calls = ["**/docker/environment/create", `**/profile/${customer.userId}`, "**/environments/*"];
  await toLastStep(page, `away-${Date.now().toString(36)}`);
  await page.getByRole("button", { name: "Launch" }).click();
  await expect(page.frameLocator("iframe").getByLabel("Card number")).toBeVisible();
  for (const path of calls) await mockCalls(page, path, networkError);
  await payInDialog(page);
  const overlay = page.locator("[data-overlay]");
  await expect(overlay).toContainText("The server does not answer at the moment");
  await expect(overlay).toContainText("You have paid");
  await expect(page.getByText("Your draft is kept")).toHaveCount(0);
  expect(await page.evaluate(() => sessionStorage.getItem("launch-draft"))).toBeNull();
  for (const path of calls) await page.unroute(path);
  await page.waitForURL("**/environments", { timeout: 60_000 });
  await expect(page.getByRole("region", { name: "New environment" })).toContainText("Your environment is ready.");

  // The browser's Back leads to the choices of that launch, and a name is typed to its end.
  await page.goBack();
  await expect(page.getByRole("region", { name: "Step 3: Review" })).toBeVisible();
  await page.getByLabel("Subdomain").pressSequentially("next-lab");
  await expect(page.getByLabel("Subdomain")).toHaveValue("next-lab");
});

test("a launch of which one request is lost on the way shows no outage (G302)", async ({ page, customer }) => {
  await toLastStep(page, `lost-${Date.now().toString(36)}`);
  await page.getByRole("button", { name: "Launch" }).click();
  await expect(page.frameLocator("iframe").getByLabel("Card number")).toBeVisible();
  const seen = await page.evaluateHandle(() => {
    const outages: string[] = [];
    const look = () => document.body.textContent?.includes("does not answer at the moment") && outages.push("shown");
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
    return outages;
  });
  let lost = 0;
  for (const path of [`**/profile/${customer.userId}`, "**/environments/*"]) {
    const lose = (route: Route) => {
      lost += 1;
      return route.abort("failed");
    };
    await page.route(path, lose, { times: 1 });
  }
  await payInDialog(page);
  await page.waitForURL("**/environments", { timeout: 60_000 });
  await expect(page.getByRole("region", { name: "New environment" })).toContainText("Your environment is ready.");
  expect(lost).toBeGreaterThan(0);
  expect(await seen.jsonValue()).toEqual([]);
});

test("an unanswered launch shows no failure once its first stage has arrived (G302)", async ({ page, customer: _ }) => {
  await toLastStep(page, `unheard-${Date.now().toString(36)}`);
  const internal = { status: "error", code: "internal", message: "", detail: "" };
  await mockCalls(page, "**/docker/environment/create", jsonReply(internal, 500));
  const { promise: looked, resolve: answer } = Promise.withResolvers<void>();
  await mockCalls(page, "**/profile/*", async (route) => {
    await looked;
    await route.continue();
  });
  await page.getByRole("button", { name: "Launch" }).click();
  await payInDialog(page);
  const failure = page.getByText("No confirmation yet");
  await expect(failure).toBeVisible();
  await expect(page.getByText("Your draft is kept")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Try Again" })).toHaveCount(0);
  answer();
  await expect(failure).toBeHidden();
  await page.waitForURL("**/environments", { timeout: 60_000 });
  await expect(page.getByRole("region", { name: "New environment" })).toContainText("Your environment is ready.");
});

test("a pending reply shows a message and leads to the list (G72)", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await toLastStep(page, `slow-${Date.now().toString(36)}`);
  await page.route("**/docker/environment/create", (route) =>
    route.fulfill({
      json: {
        status: "pending",
        message: "Still starting",
        jupyter_token: "a-b-c",
        environment_id: "1a3f9c27b0d4e5a6",
        subdomain: "slow",
      },
    }),
  );
  await page.getByRole("button", { name: "Launch" }).click();
  await payInDialog(page);
  await expect(page.getByText("Your environment is still starting. Its stages stand in the list.")).toBeVisible();
  await page.waitForURL("**/environments");
});

test("a failed launch shows the state of the money and keeps the draft (G14)", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await toLastStep(page, `failed-${Date.now().toString(36)}`);
  const answer = { status: "error", code: "not_delivered", message: "No GPU answered.", detail: "" };
  await page.route("**/docker/environment/create", (route) =>
    route.fulfill({ status: 409, json: { ...answer, money: "refund_started" } }),
  );
  await page.getByRole("button", { name: "Launch" }).click();
  await payInDialog(page);
  await expect(page.getByText("HTTP 409", { exact: true })).toBeVisible();
  await expect(
    page.getByText(/\$0\.40 is on its way back to the card or account that paid \(4-5 business days\)/),
  ).toBeVisible();
  await expect(page.locator("[data-overlay]")).toHaveCount(0);
  await page.getByRole("button", { name: "Try Again" }).click();
  await expect(page.getByLabel("Subdomain")).toHaveValue(/^failed-/);
});
