import { must, orderOf, signUp } from "../../testing/customer.ts";
import { bonusPrint } from "../../web/src/content/bonus-print.ts";
import { inHours } from "../testing/containers.ts";
import { endRentals, expect, test } from "../testing/test.ts";

const continueOn = "Continue";

test("the four steps have their defaults, Cancel and Back lead to the right page, and a reload keeps the step (4, G56)", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  await page.goto("/environments/create");
  const steps = page.getByRole("list", { name: "Progress" }).getByRole("listitem");
  await expect(steps).toHaveText([/^1\s*Environment$/, /^2\s*Resources$/, /^3\s*Review$/, /^4\s*Launch$/]);
  await expect(page.getByRole("radio", { name: "JupyterLab" })).toBeChecked();
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.waitForURL("**/dashboard");

  await page.goto("/environments/create");
  const go = page.getByRole("button", { name: continueOn });
  const current = page.getByRole("list", { name: "Progress" }).locator("[aria-current=step]");
  await go.click();
  await expect(page.getByRole("radio", { name: /^2 slots/ })).toBeChecked();
  await expect(page.getByRole("radio", { name: /^1 hour/ })).toBeChecked();
  await page.getByRole("button", { name: "Back" }).click();
  await expect(current).toContainText("Environment");
  await go.click();
  await page.getByRole("radio", { name: /^4 slots/ }).click();
  await go.click();
  await expect(page.getByRole("radio", { name: "USD" })).toBeChecked();
  await page.getByLabel("Subdomain").fill(`kept-${Date.now().toString(36)}`);
  await expect(page.getByText(/is free/).first()).toBeVisible();
  // The suffix .{host} stands beside the field (9).
  await expect(page.getByText(/^\.localhost(:\d+)?$/)).toBeVisible();
  await page.reload();
  await expect(page.getByLabel("Subdomain")).toHaveValue(/^kept-/);
  await go.click();
  await expect(current).toContainText("Launch");
  await page.getByRole("link", { name: "Back" }).click();
  await page.waitForURL("**/dashboard");
  await page.getByRole("link", { name: "Create New Environment" }).click();
  await expect(page.getByText(/JupyterLab, 4 slots, 1 hour, kept-/)).toBeVisible();
  await page.getByRole("button", { name: "Go on with it" }).click();
  await expect(current).toContainText("Launch");
  await page.goto("/environments/create");
  await page.getByRole("button", { name: "Start over" }).click();
  await expect(page.getByText("Your draft is kept")).toBeHidden();
});

test("without free GPUs a user joins the queue; the reservation notifies, survives a dismissed order, and lapses", async ({
  page,
  product,
  customer,
  database: { db },
}) => {
  const { url } = product;
  const other = await signUp(url);
  const freeGpus = async () => {
    await endRentals(db);
    return (await must(url, "GET", "/capacity")).free;
  };
  await expect.poll(freeGpus).toBe(8);
  // An unpaid order holds the whole machine.
  const all = await orderOf(url, other, { subdomain: `all-${Date.now().toString(36)}`, gpuCount: 8 });
  await page.goto("/environments/create?step=2");
  // One button follows the choice (G341).
  await expect(page.getByRole("button", { name: /^Wait for / })).toHaveText(["Wait for 2 slots"]);
  await expect(page.getByRole("button", { name: continueOn })).toBeDisabled();
  await page.getByRole("radio", { name: /^2 slots/ }).press("ArrowLeft");
  await expect(page.getByRole("radio", { name: /^1 slot,/ })).toBeChecked();
  await expect(page.getByRole("button", { name: /^Wait for / })).toHaveText(["Wait for 1 slot"]);
  await page.keyboard.press("ArrowRight");
  await page.getByRole("button", { name: "Wait for 2 slots" }).press("Enter");
  const place = page.getByRole("status").filter({ hasText: "2 slots" });
  await expect(place).toContainText("You wait for 2 slots: place 1 in line");
  await expect(place).toContainText(/Expected .*, by what is known/);
  await page.goto("/environments");
  await expect(place).toContainText("place 1 in line");

  await must(url, "POST", `/docker/payments/clear/${all.order.id}`, { token: other.idToken, body: {} });
  await expect(place).toContainText(/^2 slots are held for you until /);
  await expect(page.getByRole("button", { name: /Notifications, \d+ unread/ })).toBeVisible();
  await page.getByRole("button", { name: /Notifications/ }).click();
  await page.getByRole("link", { name: /2 GPUs are held for you for 10 minutes/ }).click();
  await page.waitForURL("**/environments/create?step=2&gpus=2");
  await expect(page.getByRole("radio", { name: /^2 slots/ })).toBeChecked();
  await expect(page.getByRole("button", { name: continueOn })).toBeEnabled();

  const mine = await orderOf(url, customer, { subdomain: `mine-${Date.now().toString(36)}`, gpuCount: 2 });
  await expect(place).toBeHidden();
  await must(url, "POST", `/docker/payments/clear/${mine.order.id}`, { token: customer.idToken, body: {} });
  await expect(place).toContainText("are held for you");
  await db
    .updateTable("queue_entries")
    .set({ held_until: new Date() })
    .where("user_id", "=", customer.userId)
    .where("status", "=", "held")
    .execute();
  await expect(place).toContainText("Your turn for 2 slots is over");
  await place.getByRole("button", { name: "Wait Again" }).click();
  await expect(place).toContainText("are held for you");
  await place.getByRole("button", { name: "Give Up" }).click();
  await expect(place).toBeHidden();
});

test("a step's URL leads to the first incomplete step, the browser's Back is one step back, and a reload stays (G56)", async ({
  page,
  customer: _,
}) => {
  const current = page.getByRole("list", { name: "Progress" }).locator("[aria-current=step]");
  for (const [step, shown] of [
    ["4", "Review"],
    ["3", "Review"],
    ["2", "Resources"],
    ["0", "Environment"],
    ["nonsense", "Environment"],
  ] as const) {
    await page.goto(`/environments/create?step=${step}`);
    await expect(current, step).toContainText(shown);
  }
  await page.goto("/environments/create?step=4");
  await page.waitForURL("**/environments/create?step=3");
  await page.getByLabel("Subdomain").pressSequentially("next-lab");
  await expect(current).toContainText("Review");
  await expect(page.getByLabel("Subdomain")).toHaveValue("next-lab");
  await page.getByLabel("Subdomain").fill("");
  await page.goto("/environments/create");
  await page.getByRole("button", { name: "Start over" }).click();
  const go = page.getByRole("button", { name: continueOn });
  await go.click();
  await page.getByRole("radio", { name: /^1 slot,/ }).click();
  await go.click();
  await expect(current).toContainText("Review");
  await expect(page.getByRole("main")).toContainText(`2 bonus hours. ${bonusPrint}`);
  await page.reload();
  await expect(current).toContainText("Review");
  await page.goBack();
  await expect(current).toContainText("Resources");
  await expect(page.getByRole("radio", { name: /^1 slot,/ })).toBeChecked();
  await page.goForward();
  await expect(current).toContainText("Review");
  await page.goBack();
  await page.goBack();
  await expect(current).toContainText("Environment");
});

test("every offered count, duration and price is shown, with the printed percentages (9, G1-G4, G8, G21, G84)", async ({
  page,
  customer,
  product,
}) => {
  expect(customer.userId).not.toBe("");
  const real = await must(product.url, "GET", "/capacity");
  const allFree = real.counts.map((count: object) => ({ ...count, free: true, next_free_at: null }));
  await page.route("**/capacity", (route) => route.fulfill({ json: { ...real, counts: allFree } }));
  await page.goto("/environments/create?step=2");
  const counts = page.getByRole("group", { name: "How many slots?" }).getByRole("radio");
  const named = async (radios: typeof counts) =>
    Promise.all((await radios.all()).map((radio) => radio.getAttribute("aria-label")));
  await expect(counts).toHaveCount(5);
  expect(await named(counts)).toEqual([
    "1 slot, $0.20 per hour",
    "2 slots, $0.40 per hour",
    "4 slots, $0.75 per hour, 6.25% discount",
    "6 slots, $1.05 per hour, 12.5% discount",
    "8 slots, $1.60 per hour, Premium, no discount",
  ]);
  const times = page.getByRole("group", { name: "For how long?" });
  const hours = ["1 hour", "6 hours", "12 hours", "24 hours", "48 hours", "72 hours", "1 week", "1 month"];
  for (const [gpus, month] of [
    ["1 slot", "$150"],
    ["2 slots", "$280"],
    ["4 slots", "$520"],
    ["6 slots", "$750"],
    ["8 slots", "$1,200"],
  ] as const) {
    await page.getByRole("radio", { name: new RegExp(`^${gpus},`) }).click();
    await expect(times.getByRole("radio")).toHaveCount(hours.length);
    for (const label of hours) await expect(times).toContainText(label);
    await expect(times.getByRole("radio", { name: /^1 month/ })).toContainText(month);
  }
  await page.getByRole("radio", { name: /^1 slot,/ }).click();
  // Also where the month is dearer (G337).
  await expect(page.getByText("the monthly: $150, where 720 single hours cost $144.")).toBeVisible();
  await page.getByRole("radio", { name: /^1 hour/ }).click();
  await page.getByRole("button", { name: continueOn }).click();
  await page.getByText("INR", { exact: true }).click();
  await expect(page.getByRole("row", { name: "Total $0.20 ₹18" })).toBeVisible();
});

test("without stock the counts are not sold and show when the next GPU is free (G35)", async ({
  page,
  product,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  const real = await must(product.url, "GET", "/capacity");
  await page.route("**/capacity", (route) =>
    route.fulfill({
      json: {
        ...real,
        kind: "gpu",
        total: 4,
        free: 2,
        counts: [1, 2, 4, 6, 8].map((gpu_count) => ({
          gpu_count,
          free: gpu_count < 3,
          next_free_at: gpu_count === 4 ? inHours(1) : null,
        })),
      },
    }),
  );
  await page.goto("/environments/create?step=2");
  await expect(page.getByText(/^RTX 4070, 12GB VRAM each\. 2 of 4 are free now\.$/)).toBeVisible();
  await expect(page.getByRole("radio", { name: /^2 GPUs/ })).toBeEnabled();
  // Chosen to wait for them, and not to go on (G341).
  await page.getByRole("radio", { name: /^4 GPUs, .*Free (at|on) / }).click();
  await expect(page.getByRole("button", { name: "Wait for 4 GPUs" })).toBeVisible();
  await expect(page.getByRole("button", { name: continueOn })).toBeDisabled();
  await expect(page.getByRole("radio", { name: /^8 GPUs, .*This machine has 4/ })).toBeDisabled();
});

test("an unprepared type is not offered yet, without a command, and a machine without a GPU is labelled (G37, G101)", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  await page.goto("/environments/create");
  await expect(page.getByRole("radio", { name: "PyTorch" })).toBeDisabled();
  await expect(page.getByText("Not offered here yet")).toHaveCount(2);
  await expect(page.getByText(/npm run/)).toHaveCount(0);
  await page.getByRole("button", { name: continueOn }).click();
  await expect(page.getByText(/^CPU only \(no GPU on this machine\)\. \d of 8 slots are free now\.$/)).toBeVisible();
});
