import { signUp } from "../../testing/customer.ts";
import { expect, test } from "../testing/test.ts";
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

  const foot = page.getByText("By logging in or signing up, you agree to the Terms of Service and Privacy Policy.");
  await expect(foot.getByRole("link", { name: "Terms of Service" })).toHaveAttribute("href", "/terms-condition");
  await expect(foot.getByRole("link", { name: "Privacy Policy" })).toHaveAttribute("href", "/privacy-policy");
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
  await expect(foot).toBeVisible();
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

test("an invalid token signs out; a network error does not (4, G45)", async ({ page, customer: _ }) => {
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
