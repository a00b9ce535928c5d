import { oidcCounterpart } from "../server/src/identity/providers/testing/oidc-counterpart.ts";
import { type Product, removeFolder, startProduct } from "../testing/product.ts";
import { linkTo } from "./testing/reset-mail.ts";
import { test as base, expect, signIn } from "./testing/test.ts";
import { toastOf } from "./testing/toasts.ts";
import { checkScreen } from "./testing/viewports.ts";

const email = "ada@uni.example";
const password = "Second password 2!";

const test = base.extend<object, { readonly product: Product }>({
  product: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
    async ({}, use) => {
      const uni = await oidcCounterpart("http://localhost");
      uni.state.person = { sub: "ada", email, email_verified: true, name: "Ada Park" };
      const product = await startProduct({ env: { RUNTIME: "fake", ...uni.env } });
      await uni.moveTo(product.url);
      await use(product);
      await product.stop();
      await uni.stop();
      removeFolder(product.dataDir);
    },
    { scope: "worker", timeout: 120_000 },
  ],
});

test("by another provider an account begins, gets a password, is disconnected and connected again (G416, G419, G420)", async ({
  page,
  product,
}) => {
  test.setTimeout(180_000);
  const withUni = page.getByRole("link", { name: "Continue with Uni" });
  const part = page.getByRole("region", { name: "Connected accounts" });
  const logOut = async () => {
    await page.getByRole("button", { name: "Logout" }).click();
    await page.waitForURL(/\/(login)?$/);
  };
  await page.goto("/login?from=/settings?tab=security");
  await expect(withUni).toBeVisible();
  await checkScreen(page, "sign-in with a provider");
  await page.getByRole("tab", { name: "SIGN UP" }).click();
  await withUni.click();
  await page.getByRole("button", { name: "Sign in at the university" }).click();
  await page.waitForURL(`${product.url}/settings?tab=security`);
  await expect(part.getByText(`${email} · Since`)).toBeVisible();
  await expect(page.getByText("Ada Park").first()).toBeVisible();
  expect(await page.evaluate(() => localStorage.getItem("userEmail"))).toBe(email);

  await part.getByRole("button", { name: "Mail me a link to set one" }).click();
  await expect(part.getByText(`A link to set one is on its way to ${email}.`)).toBeVisible();
  await page.goto("/settings?tab=password");
  await expect(page.getByText("Your account has no password yet.")).toBeVisible();
  await page.goto(await linkTo(product, { email }));
  await page.getByLabel("New password", { exact: true }).fill(password);
  await page.getByLabel("Confirm password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Reset Password" }).click();
  await expect(toastOf(page, "Password updated successfully! Navigating to login.")).toBeVisible();
  await signIn(page, { email, password });

  await page.goto("/settings?tab=security");
  await part.getByRole("button", { name: "Disconnect Uni" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Your password", { exact: true }).fill("not my password");
  await dialog.getByRole("button", { name: "Disconnect", exact: true }).click();
  await expect(dialog.getByText("This is not your current password")).toBeVisible();
  await dialog.getByLabel("Your password", { exact: true }).fill(password);
  await dialog.getByRole("button", { name: "Disconnect", exact: true }).click();
  await expect(part.getByText("You log in with your password alone.")).toBeVisible();
  await logOut();

  await page.goto("/login");
  await withUni.click();
  const taken = "An account with this address exists. Sign in with your password first, then connect Uni in Settings.";
  await expect(page.getByRole("alert").getByText(taken)).toBeVisible();
  await checkScreen(page, "sign-in that a provider may not end");
  await signIn(page, { email, password });
  await page.goto("/settings?tab=security");
  await part.getByRole("button", { name: "Connect Uni" }).click();
  await dialog.getByLabel("Your password", { exact: true }).fill(password);
  await dialog.getByRole("button", { name: "Continue to Uni" }).click();
  await expect(toastOf(page, "Uni is connected")).toBeVisible();
  await expect(part.getByText(`${email} · Since`)).toBeVisible();
  await checkScreen(page, "connected accounts");
  await logOut();
  await page.goto("/login");
  await withUni.click();
  await page.waitForURL("**/dashboard");

  await logOut();
  await page.goto("/login?error=denied&provider=1");
  await expect(page.getByRole("alert").getByText("Uni did not sign you in. Nothing was changed.")).toBeVisible();
});
