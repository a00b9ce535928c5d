import type { Page } from "@playwright/test";
import type { Order } from "../contract/src/index.ts";
import { create, must, orderAndPay, signUp, until } from "../testing/customer.ts";
import { everyPlace, everyState, fullStatement, inHours, showContainers, showOrder } from "./testing/fixtures.ts";
import { mailedLink } from "./testing/reset-mail.ts";
import { expect, test } from "./testing/test.ts";
import { passUntilVisible } from "./testing/toasts.ts";
import { judge } from "./testing/viewports.ts";

const unavailable = { status: "error", code: "unavailable", message: "Out for a moment", detail: "" };
const broken = { status: 503, json: unavailable };

/** Answers `path` only when the page has been looked at. */
async function hold(page: Page, path: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(path, async (route) => {
    if (route.request().resourceType() === "document") return route.continue();
    await promise;
    await route.abort();
  });
  return resolve;
}

/** Calls fail with 503, the page itself comes; from here a test may let time pass, for the app tries again first. */
async function breakDown(page: Page, path: string): Promise<void> {
  await page.clock.install();
  await page.route(path, (route) =>
    route.request().resourceType() === "document" ? route.continue() : route.fulfill(broken),
  );
}

const keptFiles = {
  environment_id: "7a3f9c27b0d4e5a6",
  subdomain: "old-one",
  container_type: "pytorch",
  gpu_count: 2,
  duration_hours: 6,
  size_mb: 4_210,
  files_until: inHours(24 * 29),
  banked_seconds: 0,
};

const toast = (text: string) => `[data-toast]:has-text("${text}")`;

test("public pages and documents are accessible in all four rooms", async ({ page }) => {
  for (const path of [
    "/",
    "/terms-condition",
    "/refund",
    "/privacy-policy",
    "/legal-compliance",
    "/delivery-policy",
    "/nowhere",
  ]) {
    await page.goto(path);
    await judge(page, `public${path.replace("/", "-")}`);
  }
});

test("the published figures are accessible in all four rooms: none yet, measured, not readable (G38)", async ({
  page,
}) => {
  const counts = [1, 2, 4, 6, 8].map((gpu_count) => ({
    ...{ gpu_count, free: gpu_count < 4 },
    next_free_at: gpu_count === 4 || gpu_count === 6 ? inHours(2) : null,
  }));
  const times = [0.2, 0.3, 1.1, 6.8, 7.2];
  const stages = ["placed", "image", "started", "answering", "ready"].map((stage, index) => {
    const p50_ms = (times[index] ?? 0) * 1000;
    return { stage, p50_ms, p95_ms: p50_ms * 1.6 };
  });
  const cold = { count: 1284, p50_ms: 7200, p95_ms: 11_520, stages };
  const answer = {
    ...{ status: "success", since: "2026-11-03T09:00:00.000Z", days: 30, cold, warm: null },
    capacity: { kind: "gpu", total: 6, free: 3, counts },
  };
  const show = (json: object) =>
    page.route("**/status", (route) =>
      route.request().resourceType() === "document" ? route.continue() : route.fulfill({ json }),
    );
  await show({ ...answer, cold: null });
  await page.goto("/status");
  await expect(page.getByText("None yet", { exact: true })).toBeVisible();
  await judge(page, "status-none");
  await page.unroute("**/status");
  await show(answer);
  await page.reload();
  await expect(page.getByText("1,284")).toBeVisible();
  await judge(page, "status");
  await page.unroute("**/status");
  await breakDown(page, "**/status");
  await page.reload();
  await passUntilVisible(page, page.getByText("The figures cannot be read right now"));
  await judge(page, "status-failed");
});

test("sign-in, sign-up and reset are accessible in all four rooms, refusals too", async ({ page, product }) => {
  await page.goto("/login");
  await judge(page, "login");
  const submit = page.locator("form").getByRole("button", { name: /^(Login|Sign Up)$/ });
  await submit.click();
  await expect(page.getByText("Please fill in all required fields")).toBeVisible();
  await judge(page, "login-blank");
  await page.getByLabel("Email").fill("nobody@example.com");
  await page.getByLabel("Password", { exact: true }).fill("wrong wrong");
  await submit.click();
  await expect(page.locator(toast("Login Failed"))).toBeVisible();
  await judge(page, "login-failed", { fullPage: false });
  await page.goto("/signup");
  await judge(page, "signup");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Password", { exact: true }).fill("one");
  await page.getByLabel("Confirm password").fill("two");
  await submit.click();
  await expect(page.getByText("Passwords do not match")).toBeVisible();
  await judge(page, "signup-refused");

  await page.goto("/forgot-password");
  await judge(page, "forgot");
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await expect(page.locator(toast("Email address cannot be empty"))).toBeVisible();
  await judge(page, "forgot-blank", { fullPage: false });
  const letGo = await hold(page, "**/auth/reset-password");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await judge(page, "forgot-sending", { stays: "[data-overlay]", fullPage: false });
  letGo();

  await page.goto("/reset-password");
  await expect(page.getByText("No reset link or token found!")).toBeVisible();
  await judge(page, "reset-no-code");
  await page.goto("/reset-password?oobCode=never-made");
  await expect(page.getByText("Invalid or expired link.Request another one.")).toBeVisible();
  await judge(page, "reset-invalid");
  await page.goto(await mailedLink(product, await signUp(product.url)));
  await page.getByLabel("New password", { exact: true }).fill("Half of it");
  await page.getByLabel("Confirm password", { exact: true }).fill("Half of it");
  await page.locator("form").evaluate((form: HTMLFormElement) => form.requestSubmit());
  await expect(page.getByText("Password does not meet security requirements")).toBeVisible();
  await judge(page, "reset-checklist");
  await page.goto(product.operatorPage("/outbox"));
  await judge(page, "outbox");
});

test("a place in line is accessible in all four rooms: offered, waiting, held, let pass", async ({
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
    ["offered", null, "/environments/create?step=2", "Wait for 4 GPUs"],
    ["waiting", { ...place, held_until: null }, "/environments/create?step=2", "place 2 in line"],
    ["held", { ...place, state: "held", held_until: inHours(1) }, "/environments", "are held for you until"],
    ["lapsed", { ...place, state: "lapsed", held_until: null }, "/dashboard", "Your turn for 4 GPUs is over"],
  ] as const) {
    answer = now;
    await page.goto(path);
    await expect(page.getByText(words)).toBeVisible();
    await judge(page, `line-${name}`);
  }
});

test("the creator is accessible in all four rooms, from the first step to a failed launch", async ({
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
  await judge(page, "create-1");
  await go();
  await expect(page.getByText(/are more than this machine has/)).toBeVisible();
  await judge(page, "create-2");
  await page.unroute("**/capacity");
  await go();
  await go();
  await expect(page.getByText("Please enter a subdomain name to continue")).toBeVisible();
  await judge(page, "create-3-blank");
  const name = `screens-${Date.now().toString(36)}`;
  await page.route(`**/subdomains/${name}`, (route) =>
    route.fulfill({
      json: { status: "success", available: false, message: "This name is in use", suggestion: `${name}-2` },
    }),
  );
  await page.getByLabel("Subdomain").fill(name);
  await expect(page.getByRole("button", { name: `Use ${name}-2` })).toBeVisible();
  await judge(page, "create-3-taken");
  await page.getByRole("button", { name: `Use ${name}-2` }).click();
  await expect(page.getByText(/is free/).first()).toBeVisible();
  await judge(page, "create-3");
  await go();
  await judge(page, "create-4");

  const launch = page.getByRole("button", { name: "Launch" });
  await page.route("**/docker/payments/create_order", (route) =>
    route.fulfill({
      status: 409,
      json: { ...unavailable, code: "out_of_stock", message: "No GPU is free until 4:40 PM" },
    }),
  );
  await launch.click();
  await expect(page.locator(toast("SYSTEM NOTIFICATION"))).toBeVisible();
  await judge(page, "create-4-refused", { fullPage: false });
  await page.unroute("**/docker/payments/create_order");
  await launch.click();
  const dialog = page.frameLocator("iframe");
  await expect(dialog.getByLabel("Card number")).toBeVisible();
  await judge(page, "checkout", { fullPage: false, stays: "iframe" });
  await dialog.getByLabel("Card number").fill("5305 6200 0003 0003");
  await dialog.getByLabel("Expiry").fill("12/34");
  await dialog.getByLabel("CVV").fill("123");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(dialog.getByRole("alert")).toBeVisible();
  await judge(page, "checkout-declined", { fullPage: false, stays: "iframe" });
  await dialog.getByRole("button", { name: "Cancel payment" }).click();
  await expect(page.locator(toast("Payment cancelled. Cleaning up..."))).toBeVisible();

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
  await judge(page, "create-creating");
  refuse();
  await expect(page.getByText("This environment could not be started")).toBeVisible();
  await judge(page, "create-failed");
  await page.goto("/environments/create");
  await expect(page.getByText("Your draft is kept")).toBeVisible();
  await judge(page, "create-draft");
  expect(customer.userId).not.toBe("");
});

test("the list is accessible in all four rooms: every status, menu, dialog and failure", async ({ page, customer }) => {
  test.setTimeout(120_000);
  await page.goto("/environments");
  await expect(page.getByText("Create Your First Environment")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Search environments" })).toBeVisible();
  await judge(page, "environments-empty");
  await showContainers(page, everyState);
  await page.route("**/environments/*", async (route) => {
    if (route.request().resourceType() === "document") return route.continue();
    const idle_stop = { minutes: null, stops_at: null, snoozed_until: null, last_busy_at: null };
    const secret = { jupyter_token: "k7dq-mx3a-9wzp-t2vn", session_id: "s4kq0t9w2mzp7x", idle_stop };
    return route.fulfill({
      json: { status: "success", environment: { ...everyState["1a3f9c27b0d4e5a6"], ...secret } },
    });
  });
  await page.route("**/files", (route) => route.fulfill({ json: { status: "success", files: [keptFiles] } }));
  const arrival = { jupyter_token: "k7dq-mx3a-9wzp-t2vn", environment_id: "1a3f9c27b0d4e5a6" };
  await page.evaluate((usr) => history.replaceState({ ...history.state, usr }, ""), arrival);
  await page.reload();
  await expect(page.getByText("Showing 7 of 7 environments")).toBeVisible();
  await expect(page.getByText("Your environment is ready.")).toBeVisible();
  await judge(page, "environments");
  await page.setViewportSize({ width: 360, height: 780 });
  await expect(page.locator("tr", { hasText: "resnet-lab" }).getByText("Created")).toBeVisible();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole("region", { name: "New environment" }).getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Delete now the files of old-one" }).click();
  await judge(page, "environments-delete-files", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Jupyter password" }).click();
  await expect(page.getByText("k7dq-mx3a-9wzp-t2vn").first()).toBeVisible();
  await judge(page, "environments-password", { fullPage: false, stays: "text=k7dq-mx3a-9wzp-t2vn" });
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: "Sort" }).click();
  await expect(page.getByRole("option", { name: "Expires Soon" })).toBeVisible();
  await judge(page, "environments-sort", { fullPage: false });
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "More actions for resnet-lab" }).click();
  await judge(page, "environments-menu", { fullPage: false, stays: "[role=menuitem]" });
  await page.getByRole("menuitem", { name: "Terminate" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("resnet");
  await judge(page, "environments-terminate", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "More actions for resnet-lab" }).click();
  await page.getByRole("menuitem", { name: "Add time" }).click();
  await expect(page.getByRole("button", { name: /^Pay/ })).toBeEnabled();
  await judge(page, "environments-extend", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Escape");
  await page.route("**/docker/pause_container/**", (route) => route.fulfill(broken));
  await page
    .getByRole("row", { name: /resnet-lab/ })
    .getByRole("button", { name: "Pause" })
    .click();
  await expect(page.getByRole("button", { name: "Retry" })).toBeVisible();
  await judge(page, "environments-action-failed", { fullPage: false });

  await page.goto("/environments?search=nothing-like-it&status=paused");
  await expect(page.getByText("No environment matches")).toBeVisible();
  await judge(page, "environments-none");
  await page.goto("/dashboard");
  await expect(page.getByText("whisper-small").first()).toBeVisible();
  await judge(page, "dashboard");
  await page.unroute("**/profile/*");
  await breakDown(page, "**/profile/*");
  await page.goto("/environments");
  await passUntilVisible(page, page.getByText("Server failure, please go to Dashboard and refresh"));
  await judge(page, "environments-failed");
  await page.goto("/dashboard");
  await passUntilVisible(page, page.getByText("Error fetching user data, please refresh"));
  await judge(page, "dashboard-failed");
  await page.unroute("**/profile/*");
  const letGo = await hold(page, "**/profile/*");
  for (const path of ["dashboard", "environments"]) {
    await page.goto(`/${path}`);
    await expect(page.getByRole("status").first()).toBeAttached();
    await judge(page, `${path}-loading`);
  }
  letGo();
  expect(customer.userId).not.toBe("");
});

test("the other signed-in screens are accessible in all four rooms", async ({ page, customer }) => {
  await page.goto("/dashboard");
  test.setTimeout(150_000);
  await judge(page, "dashboard-empty");
  await page.getByRole("button", { name: "Notifications, 3 unread" }).click();
  await expect(page.getByRole("button", { name: "Mark all as read" })).toBeVisible();
  await judge(page, "notifications", { fullPage: false });
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Collapse sidebar" }).click();
  await judge(page, "sidebar-collapsed", { fullPage: false });
  await page.getByRole("button", { name: "Expand sidebar" }).click();
  await page.setViewportSize({ width: 360, height: 780 });
  await page.getByRole("button", { name: "Open menu" }).click();
  await judge(page, "menu", { fullPage: false, stays: "[role=dialog]", only: 360 });

  await page.goto("/billing");
  await expect(page.getByText("No spending data available yet")).toBeVisible();
  await judge(page, "billing-empty");
  await page.route(`**/billing/${customer.userId}`, (route) => route.fulfill({ json: fullStatement }));
  await page.reload();
  await expect(page.getByText("$3,422.40").first()).toBeVisible();
  await judge(page, "billing");
  await page.getByRole("tab", { name: "Payment History" }).click();
  await expect(page.locator("tbody tr")).toHaveCount(5);
  await judge(page, "billing-history");
  await page.unroute(`**/billing/${customer.userId}`);
  await breakDown(page, `**/billing/${customer.userId}`);
  await page.reload();
  await passUntilVisible(page, page.getByText("Unable to load billing data"));
  await judge(page, "billing-failed");

  await page.goto("/support");
  await expect(page.getByText("Founder Online")).toBeVisible();
  await judge(page, "support");
  await page.getByRole("combobox", { name: "Issue type" }).click();
  await expect(page.getByRole("option", { name: "Other" })).toBeInViewport();
  await judge(page, "support-types", { fullPage: false, stays: "[role=option]" });
  await page.getByRole("option", { name: "Performance" }).click();
  await page.getByRole("textbox", { name: "Description" }).fill("It hangs at epoch 3.");
  await page.getByRole("button", { name: /^Open Telegram Chat with/ }).click();
  await expect(page.getByRole("link", { name: "Open Telegram to Send Message" })).toBeVisible();
  await judge(page, "support-sent");
  await page.getByRole("complementary").getByRole("button", { name: "Terms of Service" }).click();
  await judge(page, "support-modal", { fullPage: false, stays: "[role=dialog]" });
  await page.route("**/support/tickets", (route) => route.abort());
  await page.goto("/support?issue=payment_issues&session=abc123&payment=pay_X1");
  await page.getByRole("button", { name: /^Open Telegram Chat with/ }).click();
  await expect(page.locator(toast("An unexpected error occurred. Please try again."))).toBeVisible();
  await judge(page, "support-failed", { fullPage: false });

  await page.goto("/settings");
  await expect(page.getByLabel("Email")).toHaveValue(customer.email);
  await judge(page, "settings");
  const tabs = await page.getByRole("tab").allInnerTexts();
  for (const tab of tabs.slice(1)) {
    await page.getByRole("tab", { name: tab }).click();
    await expect(page.getByRole("tabpanel").getByRole("heading").first()).toBeVisible();
    if (tab === "Password") await page.getByRole("button", { name: "Update Password" }).click();
    await judge(page, `settings-${tab.toLowerCase()}`);
  }
  await page.getByRole("button", { name: "Delete Account" }).click();
  await judge(page, "settings-delete", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Escape");
  await page.context().setOffline(true);
  await expect(page.getByText("You are offline")).toBeVisible();
  await judge(page, "offline", { fullPage: false });
  await page.context().setOffline(false);
  await breakDown(page, "**/settings/*");
  await page.goto("/settings");
  await passUntilVisible(page, page.getByText("Error fetching user settings... Please refresh"));
  await judge(page, "settings-failed");
});

test("the page of an order is accessible in all four rooms, wherever its money is", async ({ page, customer }) => {
  test.setTimeout(180_000);
  // One for each colour that the money has, and the longest.
  for (const name of ["delivered", "started", "disputed", "refunded", "many"]) {
    const order = everyPlace[name] as Order;
    await showOrder(page, order);
    await page.goto(`/billing/orders/${order.id}`);
    await expect(page.getByRole("heading", { name: "References" })).toBeVisible();
    if (name === "many") await page.getByText("19 earlier payments failed").click();
    await judge(page, `order-${name}`);
  }
  await page.unroute("**/orders/*");
  await page.goto("/billing/orders/0000000000000000000000000");
  await expect(page.getByText("There is no such order")).toBeVisible();
  await judge(page, "order-unknown");
  await breakDown(page, "**/orders/*");
  await page.reload();
  await passUntilVisible(page, page.getByText("Unable to load this order"));
  await judge(page, "order-failed");
  await page.unroute("**/orders/*");
  const letGo = await hold(page, "**/orders/*");
  await page.reload();
  await expect(page.getByRole("status", { name: "Loading your order..." })).toBeVisible();
  await judge(page, "order-loading");
  letGo();

  await page.route("**/notifications", (route) =>
    route.fulfill({ json: { status: "success", unread: 0, notifications: [] } }),
  );
  await page.goto("/dashboard");
  await page.getByRole("button", { name: "Notifications" }).click();
  await expect(page.getByText("Nothing yet.")).toBeVisible();
  await judge(page, "notifications-empty", { fullPage: false });
  expect(customer.userId).not.toBe("");
});

test("what stands between is accessible in all four rooms: loading, server failure, a page that cannot be opened", async ({
  page,
  customer,
}) => {
  const letGo = await hold(page, "**/auth/validate");
  await page.goto("/dashboard");
  await expect(page.getByText("Loading your dashboard...").first()).toBeVisible();
  await judge(page, "loading");
  letGo();
  await expect(page.getByText("Server failure, please go to Dashboard and refresh")).toBeVisible();
  await judge(page, "server-failure");
  await page.unroute("**/auth/validate");
  await breakDown(page, "**/environments/*/sign-in-code");
  await page.goto("/open?environment=somewhere");
  await expect(page.getByText("The environment could not be opened")).toBeVisible();
  await judge(page, "open-failed");
  await page.goto("/dashboard");
  await page.route("**/assets/billing-page*.js", (route) => route.abort());
  await page.getByRole("link", { name: "Billing" }).click();
  await expect(page.getByText("This page could not be loaded")).toBeVisible();
  await judge(page, "chunk-failed");
  expect(customer.userId).not.toBe("");
});

test("the gateway's friendly pages are accessible in all four rooms (G74)", async ({ page, product, customer }) => {
  test.setTimeout(120_000);
  const subdomain = `gateway-${Date.now().toString(36)}`;
  const paid = await orderAndPay(product.url, customer, { subdomain, gpuCount: 1 });
  const { environment_id: id } = (await create(product.url, customer, paid)).body;
  const post = (path: string, body: unknown) => must(product.url, "POST", path, { token: customer.idToken, body });
  const address = `http://${subdomain}.localhost:${product.port}/lab`;
  const look = async (url: string, link: string) => {
    await page.goto(url);
    await expect(page.getByRole("link", { name: link })).toBeVisible();
    await judge(page, `gateway-${link.toLowerCase().replaceAll(" ", "-")}`);
  };
  const become = async (status: string, path: string, body: unknown) => {
    await post(path, body);
    await until(status, async () => {
      const { environment } = await must(product.url, "GET", `/environments/${id}`, { token: customer.idToken });
      return environment.status === status;
    });
  };
  await become("paused", `/docker/pause_container/${id}/${customer.userId}`, {});
  await look(address, "Resume");
  await become("stopped", `/docker/stop_container/${id}/${customer.userId}`, {});
  await look(address, "Restart");
  await become("terminated", `/environments/${id}/terminate`, { confirm: subdomain });
  await look(address, "Launch again");
  await look(`http://nobody-here.localhost:${product.port}/lab`, "Go to dashboard");
  // Who is signed in just goes on.
  await page.context().clearCookies();
  await look(`http://${subdomain}.localhost:${product.port}/_berth/sign-in?code=spent`, "Open the environment");
});
