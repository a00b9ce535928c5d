import { readFileSync } from "node:fs";
import { signUp } from "../../testing/customer.ts";
import { expect, openScreen, test } from "../testing/console.ts";
import { checkScreen } from "../testing/viewports.ts";

test("a credit is granted on the page of its account, and taken back (G153)", async ({ desk, operator: _, page }) => {
  const ada = await signUp(desk.product.url, "Ada Credit");
  await openScreen(page, `/people/${ada.userId}`, ada.email);
  const credits = page.getByRole("region", { name: "Credits" });
  await expect(credits).toContainText("This account has no credits.");
  await page.getByRole("button", { name: "Grant a credit" }).click();
  const dialog = page.getByRole("dialog");
  const grant = dialog.getByRole("button", { name: "Grant", exact: true });
  await dialog.getByLabel("Reason").fill("Sorry for Monday");
  await dialog.getByLabel("Hours").fill("1.5");
  await expect(dialog).toContainText("A whole number from 1 to 1000");
  await expect(grant).toBeDisabled();
  await dialog.getByLabel("Hours").fill("10");
  await dialog.getByLabel("With so many GPUs").fill("2");
  await expect(dialog).toContainText("That is 20 hours with 1 GPU, 10 hours with 2.");
  await checkScreen(page, "console-grant", { fullPage: false, stays: "[role=dialog]" });
  await grant.click();
  await expect(credits.getByRole("row", { name: /20 GPU-hours/ })).toContainText("Sorry for Monday");
  await credits.getByRole("button", { name: /^Revoke 20 GPU-hours/ }).click();
  await expect(dialog.getByRole("button", { name: "Revoke" })).toBeDisabled();
  await dialog.getByLabel("Reason").fill("Meant for another account");
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect(credits.getByRole("row", { name: /20 GPU-hours/ })).toContainText("Revoked");
  await expect(page.getByRole("row", { name: /credit\.revoke.*Meant for another account/ })).toBeVisible();
  const mails = await desk.db.selectFrom("mails").select("body_text").where("recipient", "=", ada.email).execute();
  expect(mails.map(({ body_text }) => body_text).join()).toContain("Meant for another account");
});

test("vouchers are made, shown once, saved, and revoked one by one or all (G155, G156)", async ({
  desk,
  operator: _,
  page,
}) => {
  const ada = await signUp(desk.product.url, "Ada Open");
  await desk.operate("credits", "grant", ada.email, "5", "--reason", "Sorry");
  const course = `Course ML ${ada.userId.slice(0, 6)}`;
  await openScreen(page, "/credits", "Credits and vouchers");
  const credits = page.getByRole("region", { name: "Open credits" });
  await expect(credits.getByRole("row", { name: new RegExp(ada.email) })).toContainText("Sorry");
  await page.getByRole("button", { name: "New vouchers" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Hours").fill("10");
  await dialog.getByLabel("Codes").fill("3");
  await dialog.getByLabel("At most so many a month").fill("none");
  await dialog.getByLabel("Reason").fill(course);
  await expect(dialog.getByRole("button", { name: "Make codes" })).toBeDisabled();
  await dialog.getByLabel("At most so many a month").fill("2");
  await dialog.getByLabel("Last day").fill("2999-06-30");
  await checkScreen(page, "console-vouchers-new", { fullPage: false, stays: "[role=dialog]" });
  await dialog.getByRole("button", { name: "Make 3 codes" }).click();
  const made = page.getByRole("region", { name: "New codes" });
  const codes = (await made.getByLabel("Codes, one on a line").inputValue()).split("\n");
  expect(codes).toHaveLength(3);
  const download = page.waitForEvent("download");
  await made.getByRole("button", { name: "Save as a file" }).click();
  expect(readFileSync(await (await download).path(), "utf8")).toBe(`${codes.join("\n")}\n`);
  const kind = page.getByRole("row", { name: new RegExp(course) });
  await expect(kind).toContainText("10 GPU-hours");
  await checkScreen(page, "console-credits");
  await made.getByRole("button", { name: "I have them" }).click();
  await expect(made).toHaveCount(0);

  await page.getByRole("button", { name: "Revoke one code" }).click();
  await dialog.getByLabel("Code").fill("AAAAA-AAAAA-AAAAA-AAAAA");
  await dialog.getByLabel("Reason").fill("It was published");
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect(dialog.getByRole("alert")).toContainText("There is no such voucher");
  await dialog.getByLabel("Code").fill(codes[0] ?? "");
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect(kind).toContainText("1 revoked");
  await kind.getByRole("button", { name: `Revoke ${course}` }).click();
  await expect(dialog).toContainText("2 codes can no longer be redeemed");
  await dialog.getByLabel("Reason").fill(`${course} is over`);
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect(kind).toContainText("3 revoked");
  await page.goto("/operator/audit");
  await expect(page.getByRole("row", { name: new RegExp(`voucher\\.revoke.*${course} is over`) })).toBeVisible();
});

test("no vouchers and credits, and ones that could not be read", async ({ operator: _, page }) => {
  const json = { status: "success", credits: [], vouchers: [] };
  await page.route("**/operator/api/credits", (route) => route.fulfill({ json }));
  await openScreen(page, "/credits", "Credits and vouchers");
  await expect(page.getByText("None was made.")).toBeVisible();
  await expect(page.getByText("No account has one.")).toBeVisible();
  await checkScreen(page, "console-credits-none");
  const broken = { status: "error", code: "forbidden", message: "Broken", detail: "" };
  await page.route("**/operator/api/credits", (route) => route.fulfill({ status: 403, json: broken }));
  await page.reload();
  await expect(page.getByRole("alert")).toContainText("The credits could not be read");
});
