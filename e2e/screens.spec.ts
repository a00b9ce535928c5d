import { mkdirSync } from "node:fs";
import type { Page } from "@playwright/test";
import { type Customer, create, must, orderAndPay, signUp, until } from "../prove/customer.ts";
import type { Product } from "../prove/product.ts";
import { expect, expectAccessible, signIn, test } from "./test.ts";

const rooms = [
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 1440, height: 900, colorScheme: "dark" },
  { width: 390, height: 844, colorScheme: "light" },
  { width: 390, height: 844, colorScheme: "dark" },
] as const;

/** Set to a folder, the screens are also kept as pictures, to be looked at. */
const shots = process.env["SHOTS"];

for (const { width, height, colorScheme } of rooms) {
  const room = `${width}-${colorScheme}`;

  test(`every screen is accessible at ${width} px, ${colorScheme}`, async ({ page, product }) => {
    test.setTimeout(240_000);
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    let number = 0;
    const judge = async (name: string, fullPage = true) => {
      await expect(page.locator("h1").first()).toBeVisible();
      await page.evaluate(() => document.fonts.ready);
      await expectAccessible(page);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(overflow, `${name} scrolls sideways`).toBeLessThanOrEqual(0);
      if (!shots) return;
      mkdirSync(shots, { recursive: true });
      await page.screenshot({ path: `${shots}/${String(++number).padStart(2, "0")}-${name}-${room}.png`, fullPage });
    };

    await page.goto("/");
    await judge("landing");
    await page.goto("/login");
    await judge("login");
    await page.getByLabel("Email").fill("nobody@example.com");
    await page.getByLabel("Password", { exact: true }).fill("wrong wrong");
    await page
      .locator("form")
      .getByRole("button", { name: /log ?in/i })
      .click();
    await expect(page.getByText("Login Failed").first()).toBeVisible();
    await judge("login-failed");
    await page.goto("/signup");
    await judge("signup");
    for (const path of ["/refund", "/terms-condition", "/forgot-password", "/reset-password"]) {
      await page.goto(path);
      await judge(path.slice(1));
    }

    const ada = await signUp(product.url);
    await signIn(page, ada);
    await judge("dashboard-empty");
    await page.goto("/environments");
    await expect(page.getByText("Create Your First Environment")).toBeVisible();
    await judge("environments-empty");
    await creator(page, judge);
    await listed(page, product, ada, judge, room);
    for (const path of [
      "/billing",
      "/billing?tab=invoices",
      "/support",
      "/settings",
      "/settings?tab=notifications",
      "/settings?tab=data",
      "/nowhere",
    ]) {
      await page.goto(path);
      await judge(path.slice(1));
    }
    await gatewayPages(page, product, ada, judge);
  });
}

type Judge = (name: string, fullPage?: boolean) => Promise<void>;

async function creator(page: Page, judge: Judge): Promise<void> {
  await page.goto("/environments/create");
  await expect(page.getByRole("radio", { name: /^JupyterLab/ })).toBeEnabled();
  await judge("create-1");
  await page.getByRole("button", { name: "Continue" }).click();
  await judge("create-2");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByText("Please enter a subdomain name to continue")).toBeVisible();
  await judge("create-3-blank");
  await page.getByLabel("Subdomain").fill("screens");
  await expect(page.getByText(/is free/).first()).toBeVisible();
  await judge("create-3");
  await page.getByRole("button", { name: "Continue" }).click();
  await judge("create-4");
  await page.getByRole("button", { name: "Launch" }).click();
  const dialog = page.frameLocator("iframe");
  await expect(dialog.getByLabel("Card number")).toBeVisible();
  await judge("checkout", false);
  await dialog.getByLabel("Card number").fill("5305 6200 0003 0003");
  await dialog.getByLabel("Expiry").fill("12/34");
  await dialog.getByLabel("CVV").fill("123");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(dialog.getByRole("alert")).toBeVisible();
  await judge("checkout-declined", false);
  await dialog.getByRole("button", { name: "Cancel payment" }).click();
  await expect(page.locator("iframe")).toBeHidden();
  await judge("create-4-dismissed");
}

/** An active, a stopped and an ended environment in the list and on the dashboard. */
async function listed(page: Page, product: Product, ada: Customer, judge: Judge, room: string): Promise<void> {
  const names = ["resnet-lab", "thesis", "old-one"].map((name) => `${name}-${room}`);
  const ids: string[] = [];
  for (const subdomain of names) {
    const { body } = await create(product.url, ada, await orderAndPay(product.url, ada, { subdomain, gpuCount: 1 }));
    expect(body.status).toBe("active");
    ids.push(body.environment_id);
  }
  const post = (path: string, body: unknown) => must(product.url, "POST", path, { token: ada.idToken, body });
  await post(`/docker/stop_container/${ids[1]}/${ada.userId}`, {});
  await post(`/environments/${ids[2]}/terminate`, { confirm: names[2] });
  const statusOf = async (id?: string) =>
    (await must(product.url, "GET", `/environments/${id}`, { token: ada.idToken })).environment.status;
  await until("stopped", async () => (await statusOf(ids[1])) === "stopped");
  await until("terminated", async () => (await statusOf(ids[2])) === "terminated");

  await page.goto("/environments");
  await expect(page.getByText("Showing 3 of 3 environments")).toBeVisible();
  await judge("environments");
  await page.getByRole("button", { name: "Jupyter password" }).click();
  await judge("environments-password", false);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: `More actions for ${names[0]}` }).click();
  await expect(page.getByRole("menuitem", { name: /Terminate/ })).toBeVisible();
  await judge("environments-menu", false);
  await page.getByRole("menuitem", { name: /Terminate/ }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await judge("environments-terminate", false);
  await page.goto("/environments?search=nothing-like-it");
  await expect(page.getByRole("button", { name: "Clear All" }).first()).toBeVisible();
  await judge("environments-none");
  await page.goto("/dashboard");
  await expect(page.getByText(names[0] ?? "").first()).toBeVisible();
  await judge("dashboard");
  await page.getByRole("button", { name: /^Notifications/ }).click();
  await judge("notifications", false);
}

async function gatewayPages(page: Page, product: Product, ada: Customer, judge: Judge): Promise<void> {
  const { containers } = (await must(product.url, "GET", `/profile/${ada.userId}`, { token: ada.idToken })).user_data;
  const all = Object.values<{ subdomain: string; status: string }>(containers);
  const named = (status: string) => all.find((each) => each.status === status)?.subdomain;
  for (const [name, action] of [
    [named("stopped"), "Restart"],
    [named("terminated"), "Launch again"],
    ["nobody-here", "Go to dashboard"],
  ]) {
    await page.goto(`http://${name}.localhost:${product.port}/lab`);
    // The owner's visit goes by way of the sign-in hand-off.
    await expect(page.getByRole("link", { name: String(action) })).toBeVisible();
    await judge(`gateway-${action?.split(" ")[0]?.toLowerCase()}`);
  }
}
