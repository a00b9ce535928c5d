import { createVouchers } from "../server/src/operator/people/vouchers.ts";
import { expect, test } from "./testing/test.ts";
import { checkScreen } from "./testing/viewports.ts";

test("a voucher is redeemed on the billing page, after a wrong code, and step 3 says what it adds (G153, G155)", async ({
  page,
  customer: _,
  database: { db },
}) => {
  const kind = { gpuHours: 20, count: 1, perMonth: undefined, expiresAt: undefined };
  const { codes } = await createVouchers(db, kind, { actor: "cli:test", reason: "Course" });
  const [code = ""] = codes;
  await page.goto("/billing");
  const field = page.getByLabel("Voucher code");
  const redeem = page.getByRole("button", { name: "Redeem" });
  await redeem.click();
  await expect(page.getByText("Type the code of your voucher")).toBeVisible();
  await field.fill("AAAAA-AAAAA-AAAAA-AAAAA");
  await redeem.click();
  await expect(page.getByText("There is no such code")).toBeVisible();
  await expect(field).toHaveValue("AAAAA-AAAAA-AAAAA-AAAAA");
  await field.fill(code.toLowerCase());
  await field.press("Enter");
  await expect(page.getByText("20 hours with 1 GPU, 10 hours with 2")).toBeVisible();
  await expect(field).toHaveValue("");
  await field.fill("AAAAA-AAAAA-AAAAA-AAAAA");
  await redeem.click();
  await expect(page.getByText("There is no such code")).toBeVisible();
  await checkScreen(page, "billing-credits");
  await page.goto("/environments/create");
  const next = page.getByRole("button", { name: "Continue" });
  await next.click();
  await expect(page.getByRole("region", { name: "Step 2: Resources" })).toBeVisible();
  await next.click();
  await expect(page.getByText(/Your credit adds \d+/)).toBeVisible();
});
