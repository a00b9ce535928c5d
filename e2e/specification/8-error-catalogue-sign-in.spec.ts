import { send, signUp } from "../../testing/customer.ts";
import { mockCalls, networkError, type Reply, refused } from "../testing/mock-calls.ts";
import { mailedLink } from "../testing/reset-mail.ts";
import { expect, test } from "../testing/test.ts";
import { advanceUntilVisible, expectToast, freeze, toastOf } from "../testing/toasts.ts";

const errorMs = 7_000;

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
  const failures: [Reply, string][] = [
    [refused(401, "x", "unauthenticated"), "Invalid credentials. Please check your email and password."],
    [refused(400, "x", "invalid_request"), "Invalid request. Please check your information."],
    [networkError, "Network error. Please check your connection and try again."],
    [refused(409, "This address has an account", "email_exists"), "This address has an account"],
    [refused(500, ""), "An unexpected error occurred. Please try again."],
    [(route) => route.fulfill({ json: { status: "success", access_token: "" } }), "No access token received"],
    [
      (route) => route.fulfill({ json: { status: "success", access_token: "not.a.token" } }),
      "Failed to authenticate with the provided token",
    ],
  ];
  for (const [how, text] of failures) {
    await mockCalls(page, path, how);
    await submit.click();
    await expectToast(page, text, "Signup Failed", errorMs);
  }
  await mockCalls(page, path, () => Promise.resolve());
  await submit.click();
  await expectToast(page, "Creating your account...", "Sign Up", 15_000);
  await page.clock.runFor(13_000);
  await expectToast(page, "Network error. Please check your connection and try again.", "Signup Failed", errorMs);
  await expect(page.getByLabel("Password", { exact: true }), "what was typed is kept (G357)").toHaveValue("sixsix");
  await page.unroute(path);
  await submit.click();
  await page.clock.resume();
  await page.waitForURL("**/dashboard");
});

test("login failures show our texts, also for the provider's codes; an empty form shows its errors", async ({
  page,
}) => {
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
    await mockCalls(page, "**/accounts:signInWithPassword*", (route) =>
      route.fulfill({ status: 400, json: { error: { code: 400, message: code } } }),
    );
    await submit.click();
    await expectToast(page, text, "Login Failed", errorMs);
  }
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

test("a logout without a reply shows an error and offers to sign out this browser only", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await page.clock.install();
  await page.goto("/dashboard");
  await expect(page.getByText("Active Environments")).toBeVisible();
  await mockCalls(page, "**/auth/logout", networkError);
  await freeze(page);
  const logout = page.getByRole("button", { name: "Logout" });
  await logout.click();
  await expectToast(page, "Failed to log out", "", errorMs);
  await logout.click();
  const here = page.getByRole("button", { name: "Log out on this device only" });
  await advanceUntilVisible(page, here);
  await here.click();
  await page.waitForURL("**/login");
  expect(await page.evaluate(() => localStorage.getItem("idToken"))).toBeNull();
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
  await mockCalls(page, "**/auth/reset-password", refused(400, "x", "invalid_request"));
  await submit.click();
  await expectToast(page, "Mismatch in user submit", "Error", 6_000);
  await mockCalls(page, "**/auth/reset-password", networkError);
  await submit.click();
  await expectToast(page, "Technical Failure, please try again after a while", "Failed", 6_000);
  await page.unroute("**/auth/reset-password");
  await submit.click();
  const sent = toastOf(page, "Reset password email sent.");
  await advanceUntilVisible(page, sent, 20);
  // Neither a success nor an error.
  await expect(sent.locator("svg").first()).toHaveClass(/lucide-info/);
  await expectToast(page, "Reset password email sent. Please check you given email.", "Email Sent", 6_000);
});

test("reset password: a missing code, a bad one, a failed confirm, then success for 4 s", async ({ page, product }) => {
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
  await mockCalls(page, "**/accounts:resetPassword*", networkError);
  await submit.click();
  await expectToast(page, "Failed to reset password. Try again after a while", "Error", 6_000);
  await mockCalls(page, "**/accounts:resetPassword*", (route) =>
    route.fulfill({ status: 500, json: { error: { code: 500, message: "INTERNAL" } } }),
  );
  await submit.click();
  await advanceUntilVisible(page, page.getByText("Failed to reset password. Please try again."));
  await page.clock.runFor(8_000);
  await page.unroute("**/accounts:resetPassword*");
  await submit.click();
  await expectToast(page, "Password updated successfully! Navigating to login.", "Success", 4_000);
});
