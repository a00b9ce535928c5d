import { must } from "../../testing/customer.ts";
import { inHours } from "../testing/containers.ts";
import { unavailable } from "../testing/mock-calls.ts";
import { expect, test } from "../testing/test.ts";
import { toastOf } from "../testing/toasts.ts";
import { checkScreen } from "../testing/viewports.ts";

test("the queue is accessible at both widths and in both schemes: offered, waiting, reserved, lapsed", async ({
  page,
  customer: _,
  product,
}) => {
  const real = await must(product.url, "GET", "/capacity");
  const counts = [1, 2, 4, 6, 8].map((gpu_count) => ({ gpu_count, free: false, next_free_at: inHours(2) }));
  await page.route("**/capacity", (route) =>
    route.fulfill({ json: { ...real, kind: "gpu", total: 8, free: 0, counts } }),
  );
  const place = { gpu_count: 4, state: "waiting", asked_at: inHours(0), position: 2, expected_at: inHours(2) };
  let answer: object | null = null;
  await page.route("**/environments/queue", (route) => route.fulfill({ json: { status: "success", place: answer } }));
  for (const [name, now, path, words] of [
    ["offered", null, "/environments/create?step=2", "Wait for 2 GPUs"],
    ["waiting", { ...place, held_until: null }, "/environments/create?step=2", "place 2 in line"],
    ["held", { ...place, state: "held", held_until: inHours(1) }, "/environments", "are held for you until"],
    ["lapsed", { ...place, state: "lapsed", held_until: null }, "/dashboard", "Your turn for 4 GPUs is over"],
  ] as const) {
    answer = now;
    await page.goto(path);
    await expect(page.getByText(words)).toBeVisible();
    await checkScreen(page, `line-${name}`);
  }
});

test("the launch page is accessible at both widths and in both schemes, from the first step to a failed launch", async ({
  page,
  customer,
  product,
}) => {
  await page.goto("/dashboard");
  test.setTimeout(150_000);
  const go = () => page.getByRole("button", { name: "Continue" }).click();
  const real = await must(product.url, "GET", "/capacity");
  const counts = [1, 2, 4, 6, 8].map((gpu_count) => ({
    gpu_count,
    free: gpu_count < 4,
    next_free_at: gpu_count === 4 ? inHours(2) : null,
  }));
  await page.route("**/capacity", (route) =>
    route.fulfill({ json: { ...real, kind: "gpu", total: 6, free: 3, counts } }),
  );
  await page.goto("/environments/create");
  await expect(page.getByRole("radio", { name: "PyTorch" })).toBeDisabled();
  await checkScreen(page, "create-1");
  await go();
  await expect(page.getByText(/are more than this machine has/)).toBeVisible();
  await checkScreen(page, "create-2");
  await page.unroute("**/capacity");
  await go();
  await go();
  await expect(page.getByText("Please enter a subdomain name to continue")).toBeVisible();
  await checkScreen(page, "create-3-blank");
  const name = `screens-${Date.now().toString(36)}`;
  await page.route(`**/subdomains/${name}`, (route) =>
    route.fulfill({
      json: { status: "success", available: false, message: "This name is in use", suggestion: `${name}-2` },
    }),
  );
  await page.getByLabel("Subdomain").fill(name);
  await expect(page.getByRole("button", { name: `Use ${name}-2` })).toBeVisible();
  await checkScreen(page, "create-3-taken");
  await page.getByRole("button", { name: `Use ${name}-2` }).click();
  await expect(page.getByText(/is free/).first()).toBeVisible();
  await checkScreen(page, "create-3");
  await go();
  await checkScreen(page, "create-4");

  const launch = page.getByRole("button", { name: "Launch" });
  await page.route("**/docker/payments/create_order", (route) =>
    route.fulfill({
      status: 409,
      json: { ...unavailable, code: "out_of_stock", message: "No GPU is free until 4:40 PM" },
    }),
  );
  await launch.click();
  await expect(toastOf(page, "SYSTEM NOTIFICATION")).toBeVisible();
  await checkScreen(page, "create-4-refused", { fullPage: false });
  await page.unroute("**/docker/payments/create_order");
  await launch.click();
  const dialog = page.frameLocator("iframe");
  await expect(dialog.getByLabel("Card number")).toBeVisible();
  await checkScreen(page, "checkout", { fullPage: false, stays: "iframe" });
  await dialog.getByLabel("Card number").fill("5305 6200 0003 0003");
  await dialog.getByLabel("Expiry").fill("12/34");
  await dialog.getByLabel("CVV").fill("123");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(dialog.getByRole("alert")).toBeVisible();
  await checkScreen(page, "checkout-declined", { fullPage: false, stays: "iframe" });
  await dialog.getByRole("button", { name: "Cancel payment" }).click();
  await expect(toastOf(page, "Payment cancelled. Cleaning up...")).toBeVisible();

  await expect(launch).toBeEnabled();
  const { promise: looked, resolve: refuse } = Promise.withResolvers<void>();
  await page.route("**/docker/environment/create", async (route) => {
    await looked;
    await route.fulfill({ status: 409, json: { ...unavailable, code: "not_delivered", money: "refund_started" } });
  });
  await launch.click();
  await dialog.getByLabel("Card number").fill("5555 5555 5555 4444");
  await dialog.getByLabel("Expiry").fill("12/34");
  await dialog.getByLabel("CVV").fill("123");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(page.locator("[data-overlay]")).toContainText("Payment successful! Creating your environment...");
  await expect(page.getByRole("button", { name: "Cancel and refund" })).toBeEnabled();
  await checkScreen(page, "create-creating");
  refuse();
  await expect(page.getByText("This environment could not be started")).toBeVisible();
  await checkScreen(page, "create-failed");
  await page.goto("/environments/create");
  await expect(page.getByText("Your draft is kept")).toBeVisible();
  await checkScreen(page, "create-draft");
  expect(customer.userId).not.toBe("");
});
