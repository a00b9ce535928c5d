import type { Page } from "@playwright/test";
import { must, signUp } from "../../testing/customer.ts";
import { type Desk, expect, openScreen, test } from "../testing/console.ts";
import { checkScreen } from "../testing/viewports.ts";

/** A ticket of a new account; returns its code. */
async function ask({ product: { url } }: Desk, description: string): Promise<string> {
  const { userId, email, idToken: token } = await signUp(url, "Ada Asks");
  const body = { issueType: "container_issues", description, userEmail: email, userId };
  return (await must(url, "POST", "/support/tickets", { token, body })).ticketId;
}

/** What a renter can type: elements that run something, a link, escape sequences, and letters that turn the line around. */
const hostile = [
  `<img src=x onerror="document.title='ran'"><script>document.title='ran'</script><a href="javascript:1">Grant it</a>`,
  "\u001b[2J\u202eevorppa\u202c \u0007",
].join("\n");

/** Nothing of it is an element, ran, or was fetched, and what follows it on the page is not turned around. */
async function expectText(page: Page): Promise<void> {
  await expect(page.locator("[onerror], [href^='javascript'], main script, [src='x']")).toHaveCount(0);
  await expect(page).not.toHaveTitle("ran");
}

test("a ticket is opened and answered with a reason; then it is no longer open", async ({ desk, operator, page }) => {
  const code = await ask(desk, "It does not start.\nThe page stays white, and the log says nothing.");
  await openScreen(page, "", "Now");
  await expect(page.getByText(/^\d+ tickets? to answer$/)).toBeVisible();
  await page.getByRole("link", { name: "Answer" }).click();
  const tickets = page.getByRole("region", { name: "Tickets" });
  await expect(tickets.getByRole("row", { name: new RegExp(code) })).toContainText("Open");
  await checkScreen(page, "console-messages");
  await tickets.getByRole("link", { name: code }).click();
  await expect(page.getByText("The page stays white")).toBeVisible();
  await expect(page.getByRole("button", { name: "Answer", exact: true })).toBeDisabled();
  await page.getByLabel("Your answer").fill("It runs again, and the lost hour is added.");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Send" })).toBeDisabled();
  await dialog.getByLabel("Reason").fill("A broken disk");
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect(page.getByRole("list", { name: "Answers" })).toContainText("the lost hour is added");
  await expect(dialog).toHaveCount(0);
  await expect(page.getByLabel("Your answer")).toHaveValue("");
  await expect(page.getByRole("row", { name: new RegExp(`${operator}.*ticket.answer.*A broken disk`) })).toBeVisible();
  await checkScreen(page, "console-ticket");
  await page.getByRole("link", { name: "All tickets" }).click();
  await expect(tickets.getByRole("row", { name: new RegExp(code) })).toHaveCount(0);
  await page.getByRole("button", { name: "Show all" }).click();
  await expect(tickets.getByRole("row", { name: new RegExp(code) })).toContainText("Answered");
});

test("a ticket is closed with a reason; lists that could not be read are said", async ({ desk, operator: _, page }) => {
  const code = await ask(desk, hostile);
  await openScreen(page, "/messages", "Messages and tickets");
  const listed = page.getByRole("row", { name: new RegExp(code) });
  await expect(listed).toContainText("<img src=x onerror");
  await expectText(page);
  await page.getByRole("link", { name: code }).click();
  const ticket = page.getByRole("region", { name: "Ticket", exact: true });
  await expect(ticket).toContainText(hostile.split("\n")[0] ?? "");
  await expectText(page);
  await page.getByRole("button", { name: "Close without an answer" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Close", exact: true }).last()).toBeDisabled();
  await dialog.getByLabel("Reason").fill("Only thanks");
  await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
  await expect(page.getByRole("region", { name: "Ticket", exact: true })).toContainText("Closed");
  await expect(page.getByRole("button", { name: "Close without an answer" })).toHaveCount(0);
  await page.goto("/operator/messages/nothing");
  await expect(page.getByText("There is no such ticket")).toBeVisible();
  const json = { status: "error", code: "forbidden", message: "Broken", detail: "" };
  await page.route("**/operator/api/{tickets/search,announcements}", (route) => route.fulfill({ status: 403, json }));
  await page.goto("/operator/messages");
  await expect(page.getByRole("alert").filter({ hasText: "The tickets could not be read" })).toBeVisible();
  await expect(page.getByRole("alert").filter({ hasText: "The announcements could not be read" })).toBeVisible();
});

test("an announcement says whom it reaches, needs a title, a text and a reason, and goes out", async ({
  desk,
  operator: _,
  page,
}) => {
  const ada = await signUp(desk.product.url, "Ada Reads");
  await openScreen(page, "/messages", "Messages and tickets");
  await page.getByRole("link", { name: "Write an announcement" }).click();
  const reached = page.getByText(/^(Nobody would|\d+ accounts? will) get it/);
  const everybody = Number.parseInt(await reached.innerText(), 10);
  expect(everybody).toBeGreaterThan(0);
  await page.getByRole("button", { name: "Announce" }).click();
  await expect(page.getByText("An announcement needs a title")).toBeVisible();
  await page.getByLabel("Title").fill("Maintenance");
  await page.getByLabel("Text", { exact: true }).fill("gpu-1 restarts on Monday at 06:00 UTC.");
  await page.getByLabel("Those who rent now").check();
  // Other tests may have left environments in this product, but Ada rents none.
  await expect.poll(async () => Number.parseInt(await reached.innerText(), 10) || 0).toBeLessThan(everybody);
  await page.getByLabel("Everybody").check();
  await page.getByLabel(/^Also by mail/).check();
  await expect(page.getByText(/will get it by bell, \d+ of them by mail too\.$/)).toBeVisible();
  await checkScreen(page, "console-announce");
  await page.getByRole("button", { name: "Announce" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Announce" })).toBeDisabled();
  await dialog.getByLabel("Reason").fill("The yearly look at the fans");
  await dialog.getByRole("button", { name: "Announce" }).click();
  const sent = page.getByRole("region", { name: "Announcements" }).getByRole("row", { name: /^Maintenance/ });
  await expect(sent).toContainText("Sent");
  await checkScreen(page, "console-announcements");
  const { notifications } = await must(desk.product.url, "GET", "/notifications", { token: ada.idToken });
  expect(notifications[0]).toMatchObject({ title: "Maintenance", body: "gpu-1 restarts on Monday at 06:00 UTC." });
});
