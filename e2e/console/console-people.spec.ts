import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { signUp } from "../../testing/customer.ts";
import { seedHistory } from "../../testing/seed.ts";
import { type Desk, expect, openScreen, test } from "../testing/console.ts";
import { checkScreen } from "../testing/viewports.ts";

/** What is hard to take back is in a menu of its own. */
async function chooseGrave(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Warn or suspend" }).click();
  await page.getByRole("menuitem", { name, exact: true }).click();
}

/** An account with environments in every state. */
async function customerOf({ product }: Desk, name: string) {
  const customer = await signUp(product.url, name);
  await seedHistory(product, customer, { count: 5, prefix: `lab-${customer.userId.slice(0, 6)}` });
  return customer;
}

test("accounts are found and shown; a search is in the address, an empty one and one that failed are said", async ({
  desk,
  operator: _,
  page,
}) => {
  const ada = await customerOf(desk, "Ada Lovelace");
  await openScreen(page, "/people", "People");
  await expect(page.getByRole("row", { name: new RegExp(ada.email) })).toBeVisible();
  await checkScreen(page, "console-people");
  await expect(page.getByText(/^1 to \d+ of \d+$/)).toBeVisible();
  await page.keyboard.press("/");
  await expect(page.getByLabel("Part of an address")).toBeFocused();
  await page.keyboard.type("lovelace");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/text=lovelace/);
  await page.getByRole("link", { name: ada.email }).click();
  await expect(page.getByRole("heading", { name: ada.email })).toBeVisible();
  await expect(page.getByRole("region", { name: "Money" })).toContainText("$750.00");
  await expect(page.getByRole("region", { name: "Environments" }).getByRole("row")).toHaveCount(6);
  await page.goto("/operator/people?text=nobody-at-all");
  await expect(page.getByText("No account has nobody-at-all")).toBeVisible();
  await checkScreen(page, "console-people-empty");
  await page.goto("/operator/people/nobody");
  await expect(page.getByText("There is no such account")).toBeVisible();
  const json = { status: "error", code: "forbidden", message: "Broken", detail: "" };
  await page.route("**/operator/api/people/search", (route) => route.fulfill({ status: 403, json }));
  await page.goto("/operator/people");
  await expect(page.getByRole("alert")).toContainText("The accounts could not be read");
});

test("an account is warned, suspended and lifted; each act needs a reason and says what it does", async ({
  desk,
  operator,
  page,
}) => {
  const ada = await customerOf(desk, "Ada Byron");
  await openScreen(page, `/people/${ada.userId}`, ada.email);
  const dialog = page.getByRole("dialog");
  const submit = (name: string) => dialog.getByRole("button", { name, exact: true });
  await chooseGrave(page, "Warn");
  await expect(submit("Warn")).toBeDisabled();
  await dialog.getByLabel("Reason").fill("   ");
  await expect(submit("Warn")).toBeDisabled();
  await dialog.getByLabel("Reason").fill("Scans of other networks");
  await submit("Warn").click();
  await expect(page.getByRole("region", { name: "Warnings" }).getByText("Scans of other networks")).toBeVisible();
  await chooseGrave(page, "Suspend");
  await expect(dialog).toContainText("It has 1 of 2 warnings");
  await expect(dialog).toContainText("2 environments stop; files and unused time are kept.");
  await checkScreen(page, "console-person-suspend", { fullPage: false, stays: "[role=dialog]" });
  await dialog.getByLabel("Reason").fill("Scans, still");
  await submit("Suspend").click();
  await expect(page.getByText("Suspended", { exact: true })).toBeVisible();
  await expect(dialog).toHaveCount(0);
  await checkScreen(page, "console-person");
  await page.getByRole("button", { name: "Lift" }).click();
  await dialog.getByLabel("Reason").fill("It was her neighbour");
  await submit("Lift").click();
  await expect(page.getByRole("button", { name: "Warn or suspend" })).toBeVisible();
  const acts = page.getByRole("region", { name: "What operators did" });
  for (const act of ["user.warn", "user.suspend", "user.lift"])
    await expect(acts.getByRole("row", { name: new RegExp(`${operator}.*${act}`) })).toBeVisible();
});

test("with a refund the environments end, for which the address is typed; what changed meanwhile is said", async ({
  desk,
  operator: _,
  page,
}) => {
  const ada = await customerOf(desk, "Ada King");
  await openScreen(page, `/people/${ada.userId}`, ada.email);
  await chooseGrave(page, "Suspend and refund");
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText(/3 environments end for good, and about \$\d+\.\d\d for unused time goes back/);
  await dialog.getByLabel("Reason").fill("Crypto mining");
  await dialog.getByLabel(/^Type /).fill("another@berth.example");
  await expect(dialog.getByRole("button", { name: "Suspend and refund" })).toBeDisabled();
  await dialog.getByLabel(/^Type /).fill(ada.email);
  await dialog.getByRole("button", { name: "Suspend and refund" }).click();
  await expect(page.getByText("Suspended", { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: /^(Warn or suspend|End environments)$/ })).toHaveCount(0);
  await desk.operate("users", "delete", ada.email, "--reason", "She asked", "--yes");
  await page.getByRole("button", { name: "Lift" }).click();
  await dialog.getByLabel("Reason").fill("A mistake");
  await dialog.getByRole("button", { name: "Lift" }).click();
  await expect(dialog.getByRole("alert")).toContainText("There is no account with this id");
});

test("an export is saved as a file, with its reason in the audit", async ({ desk, operator: _, page }) => {
  const ada = await signUp(desk.product.url, "Ada Export");
  await openScreen(page, `/people/${ada.userId}`, ada.email);
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("She asked by mail");
  const download = page.waitForEvent("download");
  await page.getByRole("dialog").getByRole("button", { name: "Export" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe(`account-${ada.userId}.json`);
  expect(JSON.parse(readFileSync(await file.path(), "utf8")).profile.email).toBe(ada.email);
  await expect(page.getByRole("row", { name: /user.export.*She asked by mail/ })).toBeVisible();
});
