import type { Page, Route } from "@playwright/test";
import { send, signUp } from "../../testing/customer.ts";
import { everyState, showContainers } from "../testing/fixtures.ts";
import { mailedLink } from "../testing/reset-mail.ts";
import { expect, test } from "../testing/test.ts";
import { expectToast, freeze, passUntilVisible, toastOf } from "../testing/toasts.ts";

const errorMs = 7_000;

/** What a server answers with this status, in its own words. */
const refused =
  (status: number, message: string, code = "internal") =>
  (route: Route) =>
    route.request().resourceType() === "document"
      ? route.continue()
      : route.fulfill({ status, json: { status: "error", code, message, detail: message } });

/** From here the call to `path` ends so; whatever was said of it before is forgotten. */
async function answer(page: Page, path: string, how: (route: Route) => Promise<void>): Promise<void> {
  await page.unroute(path);
  await page.route(path, how);
}

const noAnswer = (route: Route) => (route.request().resourceType() === "document" ? route.continue() : route.abort());

test("every sign-up failure, titled Signup Failed, and the loading toast of 15 s", async ({ page }) => {
  test.setTimeout(120_000);
  await page.clock.install();
  await page.goto("/signup");
  await page.getByLabel("Email").fill(`new-${Date.now()}@example.com`);
  await page.getByLabel("Password", { exact: true }).fill("sixsix");
  await page.getByLabel("Confirm password").fill("sixsix");
  await freeze(page);
  const path = "**/auth/signup";
  const submit = page.locator("form").getByRole("button", { name: "Sign Up" });
  const failures: [(route: Route) => Promise<void>, string][] = [
    [refused(401, "x", "unauthenticated"), "Invalid credentials. Please check your email and password."],
    [refused(400, "x", "invalid_request"), "Invalid request. Please check your information."],
    [noAnswer, "Network error. Please check your connection and try again."],
    [refused(409, "This address has an account", "email_exists"), "This address has an account"],
    [refused(500, ""), "An unexpected error occurred. Please try again."],
    [(route) => route.fulfill({ json: { status: "success", access_token: "" } }), "No access token received"],
    [
      (route) => route.fulfill({ json: { status: "success", access_token: "not.a.token" } }),
      "Failed to authenticate with the provided token",
    ],
  ];
  for (const [how, text] of failures) {
    await answer(page, path, how);
    await submit.click();
    await expectToast(page, text, "Signup Failed", errorMs);
  }
  await answer(page, path, () => Promise.resolve());
  await submit.click();
  await expectToast(page, "Creating your account...", "Sign Up", 15_000);
});

test("login failures: ours, and the provider's in our words; an empty form says what is missing", async ({ page }) => {
  await page.clock.install();
  await page.goto("/login");
  const submit = page.locator("form").getByRole("button", { name: "Login" });
  await submit.click();
  await expect(page.getByText("Please fill in all required fields")).toBeVisible();
  await page.getByLabel("Email").fill("nobody@example.com");
  await page.getByLabel("Password", { exact: true }).fill("wrong wrong");
  await freeze(page);
  await submit.click();
  await expectToast(page, "Login failed. Please check your credentials.", "Login Failed", errorMs);
  for (const [code, text] of [
    ["USER_DISABLED", "This account is suspended. Write to us if that is a mistake."],
    ["TOO_MANY_ATTEMPTS_TRY_LATER", "Too many attempts. Wait a minute, then try again."],
  ] as const) {
    await answer(page, "**/accounts:signInWithPassword*", (route) =>
      route.fulfill({ status: 400, json: { error: { code: 400, message: code } } }),
    );
    await submit.click();
    await expectToast(page, text, "Login Failed", errorMs);
  }
});

test("a profile that cannot be fetched: the dashboard's words, and the list's", async ({ page, customer }) => {
  await page.goto("/dashboard");
  await page.route(`**/profile/${customer.userId}`, refused(503, "Out for a moment", "unavailable"));
  await page.clock.install();
  await page.reload();
  await passUntilVisible(page, page.getByText("Error fetching user data, please refresh"));
  await page.getByRole("link", { name: "Environments" }).first().click();
  await passUntilVisible(page, page.getByText("Server failure, please go to Dashboard and refresh"));
  await page.unroute(`**/profile/${customer.userId}`);
  await page.getByRole("button", { name: "Try Again" }).click();
  await expect(page.getByText("Create Your First Environment")).toBeVisible();
});

test("passwords: the server says Failed to change passwords, the screen Error updating password... (G65)", async ({
  page,
  product,
  customer,
}) => {
  const { status, body } = await send(product.url, "POST", `/profile/${customer.userId}/update_password`, {
    token: customer.idToken,
    body: { current_password: "not it at all", new_password: "sixsix" },
  });
  expect([status, body.message]).toEqual([400, "Failed to change passwords"]);
  await page.clock.install();
  await page.goto("/settings?tab=password");
  await page.getByLabel("Current password", { exact: true }).fill("not it at all");
  await page.getByLabel("New password", { exact: true }).fill("sixsix");
  await page.getByLabel("Confirm new password", { exact: true }).fill("sixsix");
  await freeze(page);
  await page.getByRole("button", { name: "Update Password" }).click();
  await expectToast(page, "Error updating password...", "", errorMs);
  await page.getByLabel("Confirm new password", { exact: true }).fill("another");
  await page.getByRole("button", { name: "Update Password" }).click();
  await expectToast(page, "New passwords do not match", "Denied.", errorMs);
});

test("settings: updated, refused, unanswered, unreadable (G80)", async ({ page, customer }) => {
  await page.clock.install();
  await page.goto("/settings");
  await expect(page.getByLabel("Email")).toHaveValue(customer.email);
  await freeze(page);
  const save = page.getByRole("button", { name: "Save Changes" });
  await save.click();
  await expectToast(page, "Settings updated successfully", "", 5_000);
  await answer(page, "**/settings/*/profile", refused(503, "Out", "unavailable"));
  await save.click();
  await expectToast(page, "Failed to update user settings", "", errorMs);
  await answer(page, "**/settings/*/profile", noAnswer);
  await save.click();
  await expectToast(page, "Error updating password...", "", errorMs);
  await answer(page, "**/settings/*", refused(503, "Out", "unavailable"));
  await page.clock.resume();
  await page.reload();
  await expect(page.getByText("Error fetching user settings... Please refresh")).toBeVisible();
});

test("a logout that the server does not hear of says so and offers the device alone", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await page.clock.install();
  await page.goto("/dashboard");
  await expect(page.getByText("Active Environments")).toBeVisible();
  await page.route("**/auth/logout", noAnswer);
  await freeze(page);
  const logout = page.getByRole("button", { name: "Logout" });
  await logout.click();
  await expectToast(page, "Failed to log out", "", errorMs);
  await logout.click();
  const here = page.getByRole("button", { name: "Log out on this device only" });
  await passUntilVisible(page, here);
  await here.click();
  await page.waitForURL("**/login");
  expect(await page.evaluate(() => localStorage.getItem("idToken"))).toBeNull();
});

test("container actions: each success, each failure, and Retry", async ({ page, customer }) => {
  await showContainers(page, everyState);
  const asked: string[] = [];
  const path = "**/docker/*_container/**";
  const accepted = (route: Route) => {
    asked.push(new URL(route.request().url()).pathname);
    return route.fulfill({ json: { status: "success" } });
  };
  await page.route(path, accepted);
  await page.clock.install();
  await page.goto("/environments");
  await expect(page.getByText("Showing 7 of 7 environments")).toBeVisible();
  await freeze(page);
  const button = (name: string, label: string) =>
    page.getByRole("row", { name: new RegExp(name) }).getByRole("button", { name: label });
  for (const [name, label, text] of [
    ["resnet-lab", "Pause", "Environment resnet-lab paused"],
    ["thesis", "Stop", "Environment thesis stopped and cleaned up"],
    ["kaggle-night", "Restart", "Environment kaggle-night restarted"],
  ] as const) {
    await button(name, label).click();
    await expectToast(page, text, "", 5_000);
  }
  expect(asked).toEqual([
    `/docker/pause_container/1a3f9c27b0d4e5a6/${customer.userId}`,
    `/docker/stop_container/2b3f9c27b0d4e5a6/${customer.userId}`,
    `/docker/restart_container/4d3f9c27b0d4e5a6/${customer.userId}`,
  ]);

  const longest = "a-name-of-forty-characters-is-the-longest";
  await answer(page, path, refused(500, ""));
  await button(longest, "Stop").click();
  await expectToast(page, "Failed to stop container - Unknown error", "", errorMs);
  await answer(page, path, refused(409, "No GPU is free", "out_of_stock"));
  await button(longest, "Restart").click();
  const failure = toastOf(page, "Failed to restart environment: No GPU is free");
  await passUntilVisible(page, failure);
  asked.length = 0;
  await answer(page, path, accepted);
  await failure.getByRole("button", { name: "Retry" }).click();
  // A toast under the pointer stays.
  await page.mouse.move(20, 600);
  await expectToast(page, `Environment ${longest} restarted`, "", 5_000);
  expect(asked).toEqual([`/docker/restart_container/3c3f9c27b0d4e5a6/${customer.userId}`]);
});

test("billing: loaded, refused with its status, unanswered, and Try Again", async ({ page, customer }) => {
  await page.clock.install();
  const path = `**/billing/${customer.userId}`;
  await page.route(path, refused(503, "Out", "unavailable"));
  await page.goto("/dashboard");
  await expect(page.getByText("Active Environments")).toBeVisible();
  await freeze(page);
  const billing = page.getByRole("link", { name: "Billing" });
  const elsewhere = page.getByRole("link", { name: "Support" });
  await billing.click();
  await passUntilVisible(page, page.getByText("API error: 503"));
  await expect(page.getByText("Unable to load billing data")).toBeVisible();
  await expectToast(page, "Error fetching billing data", "Error", errorMs);
  await elsewhere.click();
  await passUntilVisible(page, page.getByText("Get Direct Support"));
  await answer(page, path, noAnswer);
  await billing.click();
  await passUntilVisible(page, page.getByText("Failed to fetch billing data"));
  await page.unroute(path);
  await page.clock.resume();
  await page.getByRole("button", { name: "Try Again" }).click();
  await expect(page.getByText("No spending data available yet")).toBeVisible();
  await page.getByRole("link", { name: "Support" }).click();
  await expect(page.getByText("Get Direct Support")).toBeVisible();
  await freeze(page);
  // The reload has told it once already.
  await page.clock.runFor(6_000);
  await expect(toastOf(page, "Billing data loaded successfully")).toBeHidden();
  await page.getByRole("link", { name: "Billing" }).click();
  await expectToast(page, "Billing data loaded successfully", "", 5_000);
});

test("create: a refused order is a notice for 6 s, silence and a failed launch are errors", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  await page.clock.install();
  await page.goto("/environments/create");
  await expect(page.getByRole("radio", { name: "JupyterLab" })).toBeEnabled();
  for (const _ of [1, 2]) await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Subdomain").fill(`notice-${Date.now().toString(36)}`);
  await page.getByRole("button", { name: "Continue" }).click();
  const launch = page.getByRole("button", { name: "Launch" });
  await expect(launch).toBeEnabled();
  await freeze(page);
  const order = "**/docker/payments/create_order";
  await answer(page, order, refused(409, "No GPU is free until 4:40 PM", "out_of_stock"));
  await launch.click();
  await expectToast(page, "No GPU is free until 4:40 PM", "SYSTEM NOTIFICATION", 6_000);
  await answer(page, order, noAnswer);
  await launch.click();
  await expectToast(page, "Network error. Please check your connection and try again.", "", errorMs);
  await page.unroute(order);

  await answer(page, "**/docker/environment/create", refused(409, "", "not_delivered"));
  await launch.click();
  const dialog = page.frameLocator("iframe");
  await passUntilVisible(page, page.locator("iframe"));
  await page.clock.resume();
  await dialog.getByLabel("Card number").fill("5555 5555 5555 4444");
  await dialog.getByLabel("Expiry").fill("12/34");
  await dialog.getByLabel("CVV").fill("123");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(toastOf(page, "HTTP 409")).toHaveText(/^Failed to create environmentHTTP 409/);
});

test("forgot password: every text with its title, 6 s each", async ({ page, product }) => {
  const ada = await signUp(product.url);
  await page.clock.install();
  await page.goto("/forgot-password");
  const email = page.getByLabel("Email");
  const submit = page.getByRole("button", { name: "Send Reset Link" });
  await expect(submit).toBeEnabled();
  await freeze(page);
  await submit.click();
  await expectToast(page, "Email address cannot be empty", "Error", 6_000);
  await email.fill(ada.email);
  await answer(page, "**/auth/reset-password", refused(400, "x", "invalid_request"));
  await submit.click();
  await expectToast(page, "Mismatch in user submit", "Error", 6_000);
  await answer(page, "**/auth/reset-password", noAnswer);
  await submit.click();
  await expectToast(page, "Technical Failure, please try again after a while", "Failed", 6_000);
  await page.unroute("**/auth/reset-password");
  await submit.click();
  await expectToast(page, "Reset password email sent. Please check you given email.", "Email Sent", 6_000);
});

test("reset password: no code, a bad one, a failed confirm, then success for 4 s", async ({ page, product }) => {
  const ada = await signUp(product.url);
  const link = await mailedLink(product, ada);
  await page.goto("/reset-password");
  await expect(page.getByText("No reset link or token found!")).toBeVisible();
  await page.goto("/reset-password?oobCode=never-made");
  await expect(page.getByText("Invalid or expired link.Request another one.")).toBeVisible();

  await page.clock.install();
  await page.goto(link);
  for (const label of ["New password", "Confirm password"])
    await page.getByLabel(label, { exact: true }).fill("A new pass 1!");
  const submit = page.getByRole("button", { name: "Reset Password" });
  await expect(submit).toBeEnabled();
  await freeze(page);
  await answer(page, "**/accounts:resetPassword*", noAnswer);
  await submit.click();
  await expectToast(page, "Failed to reset password. Try again after a while", "Error", 6_000);
  await answer(page, "**/accounts:resetPassword*", (route) =>
    route.fulfill({ status: 500, json: { error: { code: 500, message: "INTERNAL" } } }),
  );
  await submit.click();
  await passUntilVisible(page, page.getByText("Failed to reset password. Please try again."));
  await page.clock.runFor(8_000);
  await page.unroute("**/accounts:resetPassword*");
  await submit.click();
  await expectToast(page, "Password updated successfully! Navigating to login.", "Success", 4_000);
});

test("support: the server's word, our own without it, and a chat that the browser refuses", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  await page.addInitScript(() => {
    window.open = () => null;
  });
  await page.clock.install();
  await page.goto("/support?issue=payment_issues&session=abc123");
  const submit = page.getByRole("button", { name: /^Open Telegram Chat with/ });
  await expect(submit).toBeEnabled();
  await freeze(page);
  await answer(page, "**/support/tickets", refused(429, "Slow down", "rate_limited"));
  await submit.click();
  await expectToast(page, "Slow down", "", errorMs);
  await answer(page, "**/support/tickets", noAnswer);
  await submit.click();
  await expectToast(page, "An unexpected error occurred. Please try again.", "", errorMs);
  await page.getByRole("button", { name: "Account Access" }).click();
  await expectToast(page, "Failed to create Telegram message. Please try again.", "", errorMs);
});

test("dates that are none: Invalid Date, Expired and Unknown", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  const [active, ending] = Object.values(everyState);
  await showContainers(page, {
    a: { ...active, subdomain: "no-date", created_at: "soon", expires_at: "later" },
    b: { ...ending, subdomain: "long-over", expires_at: "2026-01-01T00:00:00.000Z" },
  });
  await page.goto("/environments");
  const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
  await expect(row("no-date")).toContainText("Invalid Date");
  await expect(row("no-date")).toContainText("Unknown");
  await expect(row("long-over")).toContainText("Expired");
});
