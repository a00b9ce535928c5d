import { create, orderAndPay, signUp } from "../../testing/customer.ts";
import { type Desk, expect, openScreen, test } from "../testing/console.ts";
import { checkScreen } from "../testing/viewports.ts";

/** A running environment of a customer. */
async function rented({ product }: Desk, subdomain: string) {
  const customer = await signUp(product.url);
  const paid = await orderAndPay(product.url, customer, { subdomain, gpuCount: 1, duration: 24 });
  const { status, body } = await create(product.url, customer, paid);
  expect(status).toBe(200);
  return { customer, id: String(body.environment_id), secret: String(body.jupyter_token) };
}

test("an environment is found by host and name, shown from outside, and stopped with a reason that its owner reads", async ({
  desk,
  operator,
  page,
}) => {
  const { customer, id, secret } = await rented(desk, "stop-lab");
  await openScreen(page, "/hosts", "Hosts");
  const slot = page.getByRole("list", { name: "Slots of local" }).getByRole("link", { name: /: leased, stop-lab$/ });
  await slot.focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/environments/${id}$`));
  await openScreen(page, "/environments", "Environments");
  await expect(page.getByRole("row", { name: /stop-lab/ })).toContainText(customer.email);
  await expect(page.getByRole("row", { name: /stop-lab/ })).toContainText("1 slot");
  await checkScreen(page, "console-environments");
  await page.getByRole("combobox", { name: "Host" }).click();
  await page.getByRole("option", { name: "local" }).click();
  await expect(page).toHaveURL(/host=local/);
  await page.getByLabel("Name, id or owner's address").fill("stop-lab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("row")).toHaveCount(2);
  await page.getByRole("link", { name: "stop-lab" }).click();
  await expect(page.getByRole("heading", { name: "stop-lab" })).toBeVisible();
  await expect(page.getByRole("listitem").filter({ hasText: "Answers at its address" })).toContainText("+");
  await expect(page.getByRole("listitem").filter({ hasText: "Slots reserved" })).toBeVisible();
  expect(await page.content()).not.toContain(secret);
  await checkScreen(page, "console-environment");

  await page.getByRole("button", { name: "Stop", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Stop stop-lab" });
  await expect(dialog.getByRole("button", { name: "Stop" })).toBeDisabled();
  await dialog.getByLabel("Reason").fill("Its disk is full");
  await checkScreen(page, "console-stop", { fullPage: false, stays: "[role=dialog]" });
  await dialog.getByRole("button", { name: "Stop" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("row", { name: /environment\.stop.*Its disk is full/ })).toContainText(operator);
  await expect(page.getByText("Stopped", { exact: true }).first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Stop", exact: true })).toHaveCount(0);
  const mails = await desk.db.selectFrom("mails").select("body_text").where("recipient", "=", customer.email).execute();
  expect(mails.map(({ body_text }) => body_text).join()).toContain("Its disk is full");
});

test("an environment is ended when its name is typed, with or without its unused time paid back", async ({
  desk,
  operator: _,
  page,
}) => {
  const { id } = await rented(desk, "end-lab");
  await openScreen(page, `/environments/${id}`, "Environments");
  await page.getByRole("button", { name: "Terminate" }).click();
  const dialog = page.getByRole("dialog", { name: "Terminate end-lab" });
  const end = dialog.getByRole("button", { name: "Terminate" });
  await expect(dialog.getByRole("radio", { name: /^Its unused time: \$4\.\d\d$/ })).toBeChecked();
  await dialog.getByLabel("Type end-lab to confirm").fill("end-lab");
  await expect(end).toBeDisabled();
  await dialog.getByLabel("Reason").fill("Crypto mining");
  await dialog.getByLabel("Type end-lab to confirm").fill("end");
  await expect(end).toBeDisabled();
  await dialog.getByLabel("Type end-lab to confirm").fill("end-lab");
  await checkScreen(page, "console-terminate", { fullPage: false, stays: "[role=dialog]" });
  await dialog.getByRole("radio", { name: "Nothing" }).click();
  await end.click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByText("Terminated", { exact: true }).first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Terminate" })).toHaveCount(0);
  await expect(page.getByRole("row", { name: /environment\.terminate/ })).toContainText("refund: false");
  await page.getByRole("link", { name: "24 hours" }).click();
  await expect(page.getByRole("complementary", { name: "Money" })).toContainText("$4.80");
});

test("no environment, one that does not exist, and environments that could not be read", async ({
  operator: _,
  page,
}) => {
  await openScreen(page, "/environments?status=unknown", "Environments");
  await expect(page.getByText("There is no such environment")).toBeVisible();
  await checkScreen(page, "console-environments-none");
  await page.goto("/operator/environments/none");
  await expect(page.getByRole("alert")).toContainText("There is no environment none");
  const json = { status: "error", code: "forbidden", message: "Broken", detail: "" };
  await page.route("**/operator/api/environments/search", (route) => route.fulfill({ status: 403, json }));
  await page.goto("/operator/environments");
  await expect(page.getByRole("alert")).toContainText("The environments could not be read");
});
