import { must } from "../../testing/customer.ts";
import { expect, expectAccessible, test } from "../testing/test.ts";

const open = "Open Telegram to Send Message";
const code = /^BRT-\w{6}-\d{4}$/;

test("a ticket has required fields, a counter, a code and a link (2, 4, 5, G59, G81)", async ({ page, customer }) => {
  await page.goto("/support");
  await expect(page.getByRole("heading", { name: "Get Direct Support" })).toBeVisible();
  for (const text of ["Founder Online", "Response Time: Usually within 1 hour", customer.email, "Pro Tips"])
    await expect(page.getByText(text, { exact: true }).last()).toBeVisible();
  await expect(
    page.getByRole("listitem").filter({ hasText: /support code BRT-\w{6}-\d{4} in the chat/ }),
  ).toBeVisible();

  const submit = page.getByRole("button", { name: /^Open Telegram Chat with \w+$/ });
  const description = page.getByRole("textbox", { name: "Description" });
  await expect(submit).toBeDisabled();
  await expect(page.getByText("0/1000")).toBeVisible();
  await description.fill("x".repeat(1200));
  await expect(page.getByText("1000/1000")).toBeVisible();
  await expect(description).toHaveValue("x".repeat(1_000));
  await expect(submit).toBeDisabled();
  const typed = "<b>It hangs</b> at 40 % & more + emoji 🚀";
  await description.fill(typed);
  await page.getByRole("combobox", { name: "Issue type" }).click();
  await expect(page.getByRole("option")).toHaveCount(8);
  await page.getByRole("option", { name: "Performance" }).click();
  await expect(submit).toBeEnabled();
  await description.fill("   ");
  await expect(submit).toBeDisabled();
  await description.fill(typed);
  await expectAccessible(page);

  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy instead" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`Topic: Performance\n\n${typed}`);
  await expect(page.getByRole("button", { name: "Copy instead" })).toBeVisible();

  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/support/tickets", async (route) => {
    await held;
    await route.continue();
  });
  await submit.click();
  await expect(page.getByRole("button", { name: "Preparing Telegram..." })).toBeDisabled();
  const [request] = await Promise.all([page.waitForResponse("**/support/tickets"), release()]);
  const answer = await request.json();
  expect(answer.ticketId).toMatch(code);

  const link = page.getByRole("link", { name: open });
  const message = new URL((await link.getAttribute("href")) ?? "").searchParams.get("text") ?? "";
  expect(message).toContain(`Support code: ${answer.ticketId}`);
  expect(message).toContain(typed);
  expect(await link.getAttribute("href")).toBe(answer.telegramUrl);
  await expect(page.getByRole("status").getByText(answer.ticketId).first()).toBeVisible();
  await expect(description).toHaveValue("");
  await expect(page.getByRole("combobox", { name: "Issue type" })).toHaveValue("");
  await expect(submit).toBeDisabled();

  await page.getByRole("button", { name: "Copy message" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(message);
  await expectAccessible(page);
});

test("without the server a toast says so, the text stays and the chat link works (8, G81)", async ({
  page,
  customer,
}) => {
  await page.goto("/support?issue=payment_issues&session=abc123&payment=pay_X1");
  const description = page.getByRole("textbox", { name: "Description" });
  await expect(description).toHaveValue("Session ID: abc123\nPayment reference: pay_X1\n\n");
  await page.route("**/support/tickets", (route) => route.abort());
  await page.getByRole("button", { name: /^Open Telegram Chat with/ }).click();
  await expect(page.getByText("An unexpected error occurred. Please try again.")).toBeVisible();
  const url = new URL((await page.getByRole("link", { name: open }).getAttribute("href")) ?? "");
  expect(url.origin).toBe("https://t.me");
  expect(url.searchParams.get("text")).toContain(`Email: ${customer.email}`);
  await expect(description).toHaveValue(/pay_X1/);
  await expectAccessible(page);
});

test("quick help and Skip Form open the chat; a blocked tab shows a toast (2, 8)", async ({ page, customer: _ }) => {
  await page.addInitScript(() => {
    const opened: string[] = [];
    Object.assign(window, { opened, refuse: false });
    window.open = (url) => {
      opened.push(String(url));
      return (window as unknown as { refuse: boolean }).refuse ? null : ({} as Window);
    };
  });
  await page.goto("/support");
  const questions = page.locator("dl", { has: page.locator("dt").filter({ hasText: /\?$/ }) });
  await expect(questions.locator("dt").first()).toHaveText(/\?$/);
  await expect(questions.locator("dd").first()).toHaveText(/\w/);
  const card = page.getByRole("region", { name: "Email support" });
  await expect(card).toContainText("Slower, for formal inquiries.");
  await expect(card.getByRole("link")).toHaveAttribute("href", /^mailto:.+@/);
  const calls: string[] = [];
  page.on("request", (request) => {
    if (request.method() !== "GET") calls.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  const topics = ["Container Won't Start", "Payment Issues", "Performance Problems", "Account Access"];
  for (const topic of [...topics, "Skip Form - Chat Directly"]) await page.getByRole("button", { name: topic }).click();
  const opened = await page.evaluate(() => (window as unknown as { opened: string[] }).opened);
  // The hand-off calls nobody (1, 7).
  expect(calls).toEqual([]);
  const texts = opened.map((url) => new URL(url).searchParams.get("text"));
  expect(texts).toHaveLength(5);
  for (const [index, topic] of topics.entries()) expect(texts[index]).toContain(`Topic: ${topic}`);
  expect(texts[4]).not.toContain("Topic:");

  await page.evaluate(() => Object.assign(window, { refuse: true }));
  await page.getByRole("button", { name: "Account Access" }).click();
  await expect(page.getByText("Failed to create Telegram message. Please try again.")).toBeVisible();
});

test("the four documents open in a dialog and close, also by keyboard (2)", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await page.goto("/support");
  for (const name of ["Terms of Service", "Refund policy", "Privacy Policy", "Legal Compliance"]) {
    const card = page.getByRole("complementary", { name: "Support details" }).getByRole("button", { name });
    await card.focus();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog", { name: new RegExp(name, "i") })).toBeVisible();
    if (name === "Refund policy") {
      await expectAccessible(page);
      await page.getByRole("button", { name: "Close" }).click();
    } else await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toBeHidden();
    await expect(card).toBeFocused();
  }
});

test("an unknown address is shown as Not available (2)", async ({ page, customer }) => {
  await page.goto("/dashboard");
  await page.evaluate(() => localStorage.removeItem("userEmail"));
  await page.goto("/support");
  await expect(page.getByText("Not available", { exact: true })).toBeVisible();
  expect(customer.userId).not.toBe("");
});

test("without a Telegram account the ticket is what is promised, and nobody is called online (G308)", async ({
  page,
  customer: _,
  product,
}) => {
  const config = await must(product.url, "GET", "/config");
  await page.route("**/config", (route) =>
    route.fulfill({ json: { ...config, support: { ...config.support, telegram: "" } } }),
  );
  await page.goto("/support?issue=other");
  await expect(page.getByText("The answer comes by the bell and by e-mail.")).toBeVisible();
  await expect(page.getByText(/^Founder/)).toHaveCount(0);
  await expect(page.getByRole("button", { name: /^Open Telegram Chat/ })).toHaveCount(0);
  await page.getByRole("textbox", { name: "Description" }).fill("It hangs");
  await page.getByRole("button", { name: "Send Message" }).click();
  const answer = page.getByRole("status").filter({ hasText: "Your message is here" });
  await expect(answer).toContainText(/Your message is here, BRT-\w{6}-\d{4}/);
  await expect(answer.getByRole("link", { name: "Open Telegram to Send Message" })).toHaveAttribute(
    "href",
    /^https:\/\/t\.me\/share/,
  );
});
