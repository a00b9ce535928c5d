import { signUp } from "../../testing/customer.ts";
import { mailedLink } from "../testing/reset-mail.ts";
import { expect, test } from "../testing/test.ts";
import { toastOf } from "../testing/toasts.ts";

test("sign-up and login: required fields, equal passwords, the length; the name is optional (G79, G82)", async ({
  page,
}) => {
  await page.goto("/signup");
  const fields = ["Email", "Password", "Confirm password"];
  const submit = page.locator("form").getByRole("button", { name: "Sign Up" });
  const send = async (values: readonly string[]) => {
    for (const [index, label] of fields.entries())
      await page.getByLabel(label, { exact: true }).fill(values[index] ?? "");
    await submit.click();
  };
  const calls: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/auth/signup")) calls.push(request.postData() ?? "");
  });
  for (const [values, text] of [
    [["", "", ""], "Please fill in all required fields"],
    [["ada@example.com", "", ""], "Please fill in all required fields"],
    [["", "sixsix", "sixsix"], "Please fill in all required fields"],
    [["no address", "sixsix", "sixsix"], "Enter an email address such as you@university.edu"],
    [["ada@example.com", "sixsix", "sixsi"], "Passwords do not match"],
    [["ada@example.com", "five5", "five5"], "Password must be at least 6 characters"],
  ] as const) {
    await send(values);
    await expect(page.getByText(text)).toBeVisible();
  }
  expect(calls).toEqual([]);
  await send([`nameless-${Date.now()}@example.com`, "sixsix", "sixsix"]);
  await page.waitForURL("**/dashboard");
  expect(Object.keys(JSON.parse(calls[0] ?? "{}"))).toEqual(["email", "password"]);

  await page.getByRole("button", { name: "Logout" }).click();
  await page.waitForURL("**/login");
  const login = page.locator("form").getByRole("button", { name: "Login" });
  await page.getByLabel("Email").fill("ada@example.com");
  await login.click();
  await expect(page.getByText("Please fill in all required fields")).toBeVisible();
  await page.getByLabel("Password", { exact: true }).fill("x");
  await page.getByLabel("Email").fill("ada");
  await login.click();
  await expect(page.getByText("Enter an email address such as you@university.edu")).toBeVisible();
  expect(await page.locator("form").evaluate((form: HTMLFormElement) => form.noValidate)).toBe(true);
});

test("reset: required, equal, and the five password rules; typing clears the error (G46, G78)", async ({
  page,
  product,
}) => {
  const ada = await signUp(product.url);
  await page.goto(await mailedLink(product, ada));
  // The check of the link has returned the account.
  await expect(page.locator("input[name=username]")).toHaveValue(ada.email);
  const [password, again] = ["New password", "Confirm password"].map((label) =>
    page.getByLabel(label, { exact: true }),
  );
  const submit = page.getByRole("button", { name: "Reset Password" });
  const force = () => page.locator("form").evaluate((form: HTMLFormElement) => form.requestSubmit());
  await expect(submit).toBeDisabled();
  await force();
  await expect(page.getByText("Please fill in all fields")).toBeVisible();
  for (const weak of ["Abcde1!", "abcdef1!", "ABCDEF1!", "Abcdefg!", "Abcdefg1", "Abcdefg1-"]) {
    await password?.fill(weak);
    await expect(page.getByText("Password does not meet security requirements")).toBeHidden();
    await again?.fill(weak);
    await expect(submit, weak).toBeDisabled();
    await force();
    await expect(page.getByText("Password does not meet security requirements"), weak).toBeVisible();
  }
  await password?.fill("Abcdef1{");
  await again?.fill("Abcdef1}");
  await submit.click();
  await expect(page.getByText("Passwords do not match")).toBeVisible();
});

test("step 3: empty, blank, malformed and reserved names; typing clears the error; launch checks again (G36)", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  await page.goto("/environments/create?step=3");
  const name = page.getByLabel("Subdomain");
  const go = page.getByRole("button", { name: "Continue" });
  const empty = page.getByText("Please enter a subdomain name to continue");
  await go.click();
  await expect(empty).toBeVisible();
  await name.fill("x");
  await expect(empty).toBeHidden();
  await name.fill("   ");
  await go.click();
  await expect(empty).toBeVisible();
  for (const [typed, text] of [
    ["ab", /^Use 3 to 40 lower-case letters, digits and hyphens/],
    ["-abc", /^Use 3 to 40/],
    ["Abc", /^Use 3 to 40/],
    ["a.b.c", /^Use 3 to 40/],
    ["a".repeat(41), /^Use 3 to 40/],
    ["<script>", /^Use 3 to 40/],
    ["админ", /^Use 3 to 40/],
    ["admin", /^This name is reserved$/],
    ["www", /^This name is reserved$/],
  ] as const) {
    await name.fill(typed);
    await go.click();
    await expect(page.getByText(text).first(), typed).toBeVisible();
    await expect(name).toHaveValue(typed);
  }
  // The URL opens step 4 with the reserved name: Launch checks again and leads back to the field.
  await page.goto("/environments/create?step=4");
  await page.getByRole("button", { name: "Launch" }).click();
  await expect(name).toHaveValue("www");
  await expect(page.getByText("This name is reserved").first()).toBeVisible();
});

test("settings: three required fields, equal passwords", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await page.goto("/settings?tab=password");
  const update = page.getByRole("button", { name: "Update Password" });
  await update.click();
  await expect(page.getByText("Please fill in all required fields")).toBeVisible();
  for (const [label, value] of [
    ["Current password", "a good password 1"],
    ["New password", "newone"],
    ["Confirm new password", "newtwo"],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(value);
  await update.click();
  await expect(toastOf(page, "New passwords do not match")).toContainText("Denied.");
});
