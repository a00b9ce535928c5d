import { readFile } from "node:fs/promises";
import { codeOf } from "../server/src/testing/factor-code.ts";
import { create, must, orderAndPay, profileOf, send, signUp } from "../testing/customer.ts";
import { expect, expectAccessible, signIn, test } from "./testing/test.ts";
import { checkScreen } from "./testing/viewports.ts";

test("the last tab exports everything stored as one file (G71)", async ({ page, customer }) => {
  await page.goto("/settings");
  await page.getByRole("tab", { name: "Your data" }).click();
  await expect(page).toHaveURL(/\?tab=data$/);
  await expectAccessible(page);
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const download = await saving;
  expect(download.suggestedFilename()).toMatch(/^your-data-\d{4}-\d\d-\d\d\.json$/);
  const text = await readFile(await download.path(), "utf8");
  const document = JSON.parse(text);
  expect(document.profile).toMatchObject({ user_id: customer.userId, email: customer.email, name: "Ada Park" });
  expect(document.notifications).toHaveLength(3);
  expect(document.sign_ins).toHaveLength(1);
  expect(text).not.toContain(customer.idToken);

  await page.route("**/profile/*/export", (route) => route.abort());
  await page.getByRole("button", { name: "Download" }).click();
  await expect(page.getByText("Your data could not be downloaded")).toBeVisible();
});

test("deletion requires the address and the password; afterwards the account cannot sign in (G71, G86)", async ({
  page,
  product,
  browser,
}) => {
  test.setTimeout(120_000);
  const ada = await signUp(product.url);
  const name = `leaving-${Date.now().toString(36)}`;
  const { body } = await create(
    product.url,
    ada,
    await orderAndPay(product.url, ada, { subdomain: name, gpuCount: 1 }),
  );
  expect(body.status).toBe("active");
  const elsewhere = await browser.newContext({ baseURL: product.url });
  const other = await elsewhere.newPage();
  await signIn(other, ada);
  await signIn(page, ada);

  await page.goto("/settings?tab=data");
  await page.getByRole("button", { name: "Delete Account" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("running environments end at once, and all files are deleted")).toBeVisible();
  await expectAccessible(page);
  const confirm = dialog.getByRole("button", { name: "Delete Account" });
  const address = dialog.getByLabel(`Type ${ada.email} to confirm`);
  await expect(address).toBeFocused();
  await page.keyboard.type("somebody@else.example");
  await page.keyboard.press("Tab");
  await page.keyboard.type("not my password");
  await expect(confirm).toBeDisabled();
  await address.fill(ada.email);
  await confirm.click();
  await expect(dialog.getByText("This is not your current password")).toBeVisible();
  await expectAccessible(page);
  expect((await profileOf(product.url, ada)).status).toBe("success");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();

  await page.getByRole("button", { name: "Delete Account" }).click();
  await dialog.getByLabel(`Type ${ada.email} to confirm`).fill(ada.email);
  await dialog.getByLabel("Password", { exact: true }).fill(ada.password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/login");
  await expect(page.getByText("Your account is deleted")).toBeVisible();
  expect(await page.evaluate(() => Object.keys(localStorage).filter((key) => /token|user/i.test(key)))).toEqual([]);

  await other.goto("/environments");
  await other.waitForURL(/\/login/);
  await page.getByLabel("Email").fill(ada.email);
  await page.getByLabel("Password", { exact: true }).fill(ada.password);
  await page
    .locator("form")
    .getByRole("button", { name: /log ?in/i })
    .click();
  await expect(page.getByRole("alert").first()).toBeVisible();
  await expect(page).toHaveURL(/\/login/);
  expect((await send(product.url, "GET", `/profile/${ada.userId}`, { token: ada.idToken })).status).toBe(401);

  const bob = await signUp(product.url);
  // Nobody gets the name for a year (G301).
  expect(await must(product.url, "GET", `/subdomains/${name}`, { token: bob.idToken })).toMatchObject({
    available: false,
  });
  const again = { email: ada.email, password: "another password 1", name: "Ada" };
  await must(product.url, "POST", "/auth/signup", { body: again });
  await elsewhere.close();
});

test("two-factor sign-in by keyboard: set up, log in with a code and with a recovery code, turn off; a sign-in elsewhere is ended (G398, G399, G402, G403)", async ({
  page,
  customer: ada,
}) => {
  const needed = { status: "error", code: "second_factor_required", message: "Set it up", detail: "Set it up" };
  await page.route("**/auth/validate", (route) => route.fulfill({ status: 403, json: needed }));
  await page.goto("/environments");
  await expect(page, "where it is required, it comes before anything else").toHaveURL(/\/settings\?tab=security$/);
  await page.unroute("**/auth/validate");
  await page.request.post("/identity/v1/accounts:signInWithPassword?key=local", {
    data: { email: ada.email, password: ada.password, returnSecureToken: true },
    headers: { "user-agent": "curl/8.5.0" },
    failOnStatusCode: true,
  });
  await page.goto("/settings?tab=security");
  const signIns = page.getByRole("region", { name: "Where you are signed in" }).getByRole("listitem");
  await expect(signIns).toHaveCount(2);
  await checkScreen(page, "sign-ins");
  await page.getByRole("button", { name: "Sign out curl" }).focus();
  await page.keyboard.press("Enter");
  await expect(signIns).toHaveCount(1);
  await expect(signIns).toContainText("This browser");
  const dialog = page.getByRole("dialog");
  const press = async (name: string, key = "Enter") => {
    await page.getByRole("button", { name, exact: true }).focus();
    await page.keyboard.press(key);
  };
  await press("Set up");
  await expect(dialog.getByLabel("Your password", { exact: true })).toBeFocused();
  await page.keyboard.type("not my password");
  await page.keyboard.press("Enter");
  await expect(dialog.getByText("This is not your current password")).toBeVisible();
  await dialog.getByLabel("Your password", { exact: true }).fill(ada.password);
  await page.keyboard.press("Enter");
  await expect(dialog.getByLabel("Six digits that the app shows")).toBeFocused();
  const secret = (await dialog.getByRole("button", { name: /copy the key/ }).innerText()).replace(/\s/g, "");
  await page.keyboard.type("12345");
  await page.keyboard.press("Enter");
  await expect(dialog.getByText("This code is not right, or it was used before")).toBeVisible();
  await checkScreen(page, "second-factor-set-up", { fullPage: false, stays: "[role=dialog]" });
  await dialog.getByLabel("Six digits that the app shows").fill(codeOf(secret));
  await page.keyboard.press("Enter");
  const codes = dialog.getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
  await expect(codes).toHaveCount(10);
  const [first = "", second = ""] = await codes.allInnerTexts();
  await checkScreen(page, "recovery-codes", { fullPage: false, stays: "[role=dialog]" });
  const saving = page.waitForEvent("download");
  await press("Download");
  expect(await readFile(await (await saving).path(), "utf8")).toContain(`${first}\n${second}\n`);
  await press("I have kept them");
  await expect(page.getByText(/^On since .* 10 recovery codes left\.$/)).toBeVisible();
  await checkScreen(page, "security-tab");

  const logIn = async () => {
    await page.getByRole("button", { name: "Logout" }).click();
    await page.waitForURL(/\/(login)?$/);
    await page.goto("/login");
    await page.getByLabel("Email").fill(ada.email);
    await page.getByLabel("Password", { exact: true }).fill(ada.password);
    await page.keyboard.press("Enter");
    await expect(page.getByLabel("Six digits")).toBeFocused();
  };
  await logIn();
  await page.keyboard.type("abcdef");
  await page.keyboard.press("Enter");
  await expect(page.getByText("This code is not right, or it was used before")).toBeVisible();
  await checkScreen(page, "login-code");
  await page.getByLabel("Six digits").fill(codeOf(secret, 1).replace(/^.../, "$& "));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard");

  await logIn();
  await press("Use a recovery code");
  await expect(page.getByLabel("Recovery code")).toBeFocused();
  await checkScreen(page, "login-recovery-code");
  await page.getByLabel("Recovery code").fill(first.toUpperCase());
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard");
  await page.goto("/settings?tab=security");
  await expect(page.getByText(/9 recovery codes left\.$/)).toBeVisible();
  await press("Turn off");
  await expect(dialog.getByLabel("Code of the app, or a recovery code")).toBeFocused();
  await page.keyboard.type(second);
  await checkScreen(page, "second-factor-off", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Enter");
  await expect(page.getByText("Two-factor sign-in is off")).toBeVisible();
  await expect(page.getByRole("button", { name: "Set up" })).toBeVisible();
  await expect(dialog).toBeHidden();
  await press("Set up");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
});

test("a passkey by keyboard: added, logs in by the button, is removed (G424)", async ({ page, customer: ada }) => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      ...{ protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  /** Whether somebody touches the device as soon as it asks. */
  const touch = (enabled: boolean) =>
    devtools.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
  await page.goto("/settings?tab=security");
  const part = page.getByRole("region", { name: "Passkeys" });
  const dialog = page.getByRole("dialog");
  const press = async (name: string) => {
    await page.getByRole("button", { name, exact: true }).focus();
    await page.keyboard.press("Enter");
  };
  await press("Add a passkey");
  await expect(dialog.getByLabel("Your password", { exact: true })).toBeFocused();
  await page.keyboard.type("not my password");
  await page.keyboard.press("Enter");
  await expect(dialog.getByText("This is not your current password")).toBeVisible();
  await checkScreen(page, "passkey-set-up", { fullPage: false, stays: "[role=dialog]" });
  await dialog.getByLabel("Your password", { exact: true }).fill(ada.password);
  await dialog.getByLabel("Name").fill("Ada's laptop");
  await page.keyboard.press("Enter");
  await expect(page.getByText("The passkey is added")).toBeVisible();
  await expect(part.getByRole("listitem")).toContainText(/Ada's laptop.*not used yet/);
  await checkScreen(page, "passkeys");
  await press("Add a passkey");
  await expect(dialog.getByLabel("Your password", { exact: true })).toBeFocused();
  await page.keyboard.type(ada.password);
  await page.keyboard.press("Enter");
  await expect(dialog.getByText("This device has a passkey of your account already.")).toBeVisible();
  await page.keyboard.press("Escape");

  await touch(false);
  await page.getByRole("button", { name: "Logout" }).click();
  await page.waitForURL(/\/(login)?$/);
  await page.goto("/login");
  await expect(page.getByLabel("Email")).toHaveAttribute("autocomplete", "username webauthn");
  await checkScreen(page, "login-passkey");
  await touch(true);
  await press("Sign in with a passkey");
  await page.waitForURL("**/dashboard");
  expect(await page.evaluate(() => localStorage.getItem("userEmail"))).toBe(ada.email);

  await page.goto("/settings?tab=security");
  await expect(part.getByRole("listitem")).toContainText(/last used/);
  await press("Remove Ada's laptop");
  await expect(dialog.getByLabel("Your password", { exact: true })).toBeFocused();
  await page.keyboard.type(ada.password);
  await checkScreen(page, "passkey-removal", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Enter");
  await expect(page.getByText("The passkey is removed")).toBeVisible();
  await expect(part.getByRole("listitem")).toHaveCount(0);

  await touch(false);
  await page.getByRole("button", { name: "Logout" }).click();
  await page.waitForURL(/\/(login)?$/);
  await page.goto("/login");
  await touch(true);
  await press("Sign in with a passkey");
  // The field asks again after the button, and this device answers by itself.
  await expect(page.getByText(/This passkey is not known here/).first()).toBeVisible();
  await expect(page).toHaveURL(/\/login/);
});
