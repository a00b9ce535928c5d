import { signUp } from "../../testing/customer.ts";
import { expect, signIn, test } from "../testing/test.ts";
import { advanceUntilVisible } from "../testing/toasts.ts";

test("sign-up shows validation errors in the form, with the specification's texts (5, 8)", async ({
  page,
  product,
}) => {
  const taken = await signUp(product.url);
  await page.goto("/signup");
  const form = page.locator("form");
  const submit = () => form.getByRole("button", { name: "Sign Up" }).click();
  const password = page.getByLabel("Password", { exact: true });
  const confirmation = page.getByLabel("Confirm password");

  await submit();
  await expect(page.getByText("Please fill in all required fields")).toBeVisible();
  await page.getByLabel("Email").fill(taken.email);
  await password.fill("secret1");
  await confirmation.fill("secret2");
  await submit();
  await expect(page.getByText("Passwords do not match")).toBeVisible();
  await password.fill("five5");
  await confirmation.fill("five5");
  await submit();
  await expect(page.getByText("Password must be at least 6 characters")).toBeVisible();
  await password.fill("sixsix");
  await confirmation.fill("sixsix");
  await submit();
  await expect(page.getByText("Signup Failed")).toBeVisible();
  await expect(page.getByLabel("Email")).toHaveValue(taken.email);

  await page.getByRole("tab", { name: "LOGIN" }).click();
  await expect(page.getByLabel("Email")).toHaveValue("");
  await expect(page.getByText("Password must be at least 6 characters")).toBeHidden();
});

test("a guarded page leads to sign-in and back, but never to another site (2)", async ({ page, product }) => {
  const ada = await signUp(product.url);
  const login = async () => {
    await page.getByLabel("Email").fill(ada.email);
    await page.getByLabel("Password", { exact: true }).fill(ada.password);
    await page.locator("form").getByRole("button", { name: "Login" }).click();
  };
  await page.goto("/environments?status=stopped");
  await page.waitForURL(/\/login/);
  await login();
  await page.waitForURL("**/environments?status=stopped");
  await page.getByRole("button", { name: "Logout" }).click();
  await page.waitForURL(/\/(login)?$/);
  await expect.poll(() => page.evaluate(() => localStorage.getItem("idToken"))).toBeNull();

  await page.goto("/login?from=//evil.example/x");
  await login();
  await page.waitForURL(`${product.url}/dashboard`);
  for (const path of ["/", "/login", "/signup"]) {
    await page.goto(path);
    await page.waitForURL("**/dashboard");
  }
});

test("an invalid token signs out; a network error does not (4, G45)", async ({ page, product }) => {
  const ada = await signUp(product.url);
  await signIn(page, ada);
  await page.route("**/auth/validate", (route) => route.abort());
  await page.route("**/profile/**", (route) => route.abort());
  await page.clock.install();
  await page.goto("/dashboard");
  const failure = page.getByText("Error fetching user data, please refresh").or(page.getByText("Server failure"));
  await advanceUntilVisible(page, failure.first());
  expect(await page.evaluate(() => localStorage.getItem("idToken"))).not.toBeNull();
  await page.unroute("**/auth/validate");
  await page.unroute("**/profile/**");

  await page.evaluate(() => {
    localStorage.setItem("idToken", "no.longer.good");
    localStorage.setItem("refreshToken", "nor.1.this");
  });
  await page.goto("/environments");
  await page.waitForURL(/\/login/);
  expect(await page.evaluate(() => localStorage.getItem("user_id"))).toBeNull();
});

test("a new user's dashboard (2)", async ({ page, product }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const ada = await signUp(product.url, "Ada Park");
  await signIn(page, ada);
  await expect(page.getByText(/Ada Park/).first()).toBeVisible();
  for (const label of ["Active Environments", "Total Usage", "GPU Instances"])
    await expect(page.getByText(label)).toBeVisible();
  await expect(page.getByRole("link", { name: "Create Your First Environment" })).toBeVisible();

  const notice = page.getByText("5555 5555 5555 4444");
  await page
    .getByRole("button", { name: /copy.*card|5555 5555 5555 4444/i })
    .first()
    .click();
  expect((await page.evaluate(() => navigator.clipboard.readText())).replaceAll(" ", "")).toBe("5555555555554444");
  await page
    .getByRole("button", { name: /dismiss|close/i })
    .first()
    .click();
  await expect(notice).toBeHidden();
  await page.reload();
  await expect(page.getByText("Active Environments")).toBeVisible();
  await expect(notice).toBeHidden();

  await page.getByRole("button", { name: "Notifications, 3 unread" }).click();
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await expect(page.getByRole("button", { name: /^Notifications/ }).first()).not.toHaveAccessibleName(/unread/);
});

test("the footer links the agreements, and switching tabs clears the form (2)", async ({ page }) => {
  await page.goto("/login");
  const foot = page.getByText("By logging in or signing up, you agree to the Terms of Service and Privacy Policy.");
  await expect(foot.getByRole("link", { name: "Terms of Service" })).toHaveAttribute("href", "/terms-condition");
  await expect(foot.getByRole("link", { name: "Privacy Policy" })).toHaveAttribute("href", "/privacy-policy");
  await page.locator("form").getByRole("button", { name: "Login" }).click();
  await expect(page.getByText("Please fill in all required fields")).toBeVisible();
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByRole("tab", { name: "SIGN UP" }).click();
  await expect(page.getByText("Please fill in all required fields")).toBeHidden();
  await expect(page.getByLabel("Email")).toHaveValue("");
  await expect(foot).toBeVisible();
});
