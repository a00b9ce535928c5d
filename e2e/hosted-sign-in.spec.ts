import { noEmulator, startAuthEmulator } from "../server/src/identity/testing/auth-emulator.ts";
import { type Product, removeFolder, startProduct } from "../testing/product.ts";
import { linkTo } from "./testing/reset-mail.ts";
import { test as base, expect, signIn } from "./testing/test.ts";
import { toastOf } from "./testing/toasts.ts";

const test = base.extend<object, { readonly emulator: string; readonly product: Product }>({
  emulator: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
    async ({}, use) => {
      const { host, stop } = await startAuthEmulator();
      await use(host);
      await stop();
    },
    { scope: "worker", timeout: 300_000 },
  ],
  product: [
    async ({ emulator }, use) => {
      const identity = { IDENTITY: "firebase", FIREBASE_PROJECT_ID: "demo-berth", FIREBASE_API_KEY: "any" };
      const env = { RUNTIME: "fake", ...identity, FIREBASE_AUTH_EMULATOR_HOST: emulator };
      const product = await startProduct({ env });
      await use(product);
      await product.stop();
      removeFolder(product.dataDir);
    },
    { scope: "worker", timeout: 120_000 },
  ],
});

test.skip(noEmulator !== undefined, noEmulator);

test("with a hosted identity provider an account lives from its sign-up to its deletion (1, 7, G321)", async ({
  page,
  product,
  emulator,
}) => {
  test.setTimeout(180_000);
  const address = `ada-${Date.now().toString(36)}@uni.example`;
  const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
  await page.goto("/signup");
  await page.getByLabel("Name").fill("Ada Park");
  await page.getByLabel("Email").fill(address);
  await fill("Password", "first password 1");
  await fill("Confirm password", "first password 1");
  await page
    .locator("form")
    .getByRole("button", { name: /sign up|create/i })
    .click();
  await page.waitForURL("**/dashboard");
  await expect(page.getByText("Ada Park").first()).toBeVisible();

  // A new password: this browser stays signed in, with a refresh token that still works.
  await page.goto("/settings?tab=password");
  await fill("Current password", "not my password");
  await fill("New password", "Second password 2!");
  await fill("Confirm new password", "Second password 2!");
  await page.getByRole("button", { name: "Update Password" }).click();
  await expect(page.getByText("This is not your current password")).toBeVisible();
  await fill("Current password", "first password 1");
  const signedInAgain = page.waitForResponse("**/accounts:signInWithPassword*");
  await page.getByRole("button", { name: "Update Password" }).click();
  expect((await signedInAgain).status()).toBe(200);
  await expect(toastOf(page, "Settings updated successfully")).toBeVisible();
  await page.evaluate(() => localStorage.setItem("expiresAt", "0"));
  const refreshed = page.waitForResponse("**/securetoken.googleapis.com/v1/token*");
  await page.goto("/dashboard");
  expect((await refreshed).status()).toBe(200);
  await expect(page.getByText("Ada Park").first()).toBeVisible();

  // A forgotten one: the mail is ours, its code the provider's.
  await page.getByRole("button", { name: "Logout" }).click();
  await page.waitForURL(/\/login|\/$/);
  await page.goto("/forgot-password");
  await page.getByLabel("Email").fill(address);
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await expect(toastOf(page, "Reset password email sent. Please check you given email.")).toBeVisible();
  await page.goto(await linkTo(product, { email: address }));
  await fill("New password", "Third pass 3!");
  await fill("Confirm password", "Third pass 3!");
  await page.getByRole("button", { name: "Reset Password" }).click();
  await expect(toastOf(page, "Password updated successfully! Navigating to login.")).toBeVisible();
  await page.goto("/login");
  await page.getByLabel("Email").fill(address);
  await fill("Password", "Second password 2!");
  const form = page.locator("form");
  await form.getByRole("button", { name: /log ?in/i }).click();
  await expect(page.getByText("Login failed. Please check your credentials.")).toBeVisible();
  await signIn(page, { email: address, password: "Third pass 3!" });

  await page.goto("/settings?tab=data");
  await page.getByRole("button", { name: "Delete Account" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(`Type ${address} to confirm`).fill(address);
  await dialog.getByLabel("Password", { exact: true }).fill("Third pass 3!");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/login");
  await expect(page.getByText("Your account is deleted")).toBeVisible();
  const lookUp = async () => {
    const reply = await fetch(
      `http://${emulator}/identitytoolkit.googleapis.com/v1/projects/demo-berth/accounts:lookup`,
      {
        method: "POST",
        headers: { authorization: "Bearer owner", "content-type": "application/json" },
        body: JSON.stringify({ email: [address] }),
      },
    );
    return (await reply.json()).users ?? [];
  };
  await expect.poll(lookUp, { message: "the account is gone there too", timeout: 30_000 }).toEqual([]);
});
