import { AxeBuilder } from "@axe-core/playwright";
import { chromium, type Page } from "@playwright/test";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { operatorKey, setup } from "../testing/setup.ts";

// Timeouts for a browser on a busy machine; there are no fixed waits.
vi.setConfig({ testTimeout: 60_000 });

const browser = chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "", args: ["--no-sandbox"] });
afterAll(async () => (await browser).close());

/** A merchant's page around the dialog, in a real browser. */
async function openDialog({ options = "", currency = "USD", width = 1280, scheme = "light" as "light" | "dark" } = {}) {
  const { app, gateway, gatewayUrl, order, db, endWait, ...loops } = await setup();
  const { origin, pathname } = new URL(gatewayUrl);
  const { id } = (await order("ada", { gpu_count: 2, duration: 6 }, currency)).body;
  const context = await (await browser).newContext({
    viewport: { width, height: 800 },
    colorScheme: scheme,
    reducedMotion: "reduce",
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on(
    "console",
    (message) => message.type() === "error" && !message.text().includes("400") && problems.push(message.text()),
  );
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.route(`${origin}/merchant`, (route) =>
    route.fulfill({
      contentType: "text/html",
      body: `<!doctype html><html lang="en"><title>Shop</title><main><h1>Shop</h1><button>Buy</button></main><script src="${pathname}/checkout.js"></script>`,
    }),
  );
  await page.goto(`${gatewayUrl}/test?key=${operatorKey}`);
  await page.goto(`${origin}/merchant`);
  await page.evaluate(`
    window.heard = [];
    const options = { key: ${JSON.stringify(gateway.keyId)}, order_id: ${JSON.stringify(id)}, amount: 240, currency: "USD", name: "Berth", description: "Two <b>GPUs</b> & more",
      timeout: 840, handler: (response) => heard.push(["paid", response]), modal: { ondismiss: () => heard.push(["dismissed"]) } };
    window.checkout = new Razorpay({ ...options, ${options} });
    checkout.on("payment.failed", ({ error }) => heard.push(["failed", error.reason]));
    checkout.open();`);
  const dialog = page.frameLocator("iframe[title=Checkout]");
  const heard = () => page.evaluate("heard") as Promise<unknown[][]>;
  const fill = async (number: string, expiry = "12/34", cvv = "123") => {
    await dialog.getByLabel("Card number").fill(number);
    await dialog.getByLabel("Expiry").fill(expiry);
    await dialog.getByLabel("CVV").fill(cvv);
    await dialog.getByRole("button", { name: "Pay $2.40" }).click();
  };
  /** Ends the wait of the only payment. */
  async function approve() {
    loops.runWebhookSender(gatewayUrl);
    const { id: paymentId } = await db.selectFrom("embedded_gateway_payments").select("id").executeTakeFirstOrThrow();
    await endWait(paymentId);
  }
  return { page, dialog, heard, fill, approve, problems, id, app };
}

const isOpen = (page: Page) => page.locator("dialog").count();

test("paid by keyboard: the dialog closes and the handler gets the proof, without ondismiss", async () => {
  const { page, dialog, heard, problems, id } = await openDialog();
  await dialog.getByText("Test mode: no money moves").waitFor();
  await dialog.getByText("Two <b>GPUs</b> & more").waitFor();
  await dialog.getByText(/^1[34]:\d\d$/).waitFor();
  await dialog.locator("#number:focus").waitFor();
  for (const text of ["5555555555554444", "1234", "123"]) {
    await page.keyboard.type(text);
    await page.keyboard.press("Tab");
  }
  await dialog.locator("button.pay:focus").waitFor();
  expect(await dialog.getByLabel("Card number").inputValue()).toBe("5555 5555 5555 4444");
  expect(await dialog.getByLabel("Expiry").inputValue()).toBe("12/34");
  await page.keyboard.press("Enter");
  await expect
    .poll(heard)
    .toEqual([
      [
        "paid",
        { razorpay_order_id: id, razorpay_payment_id: expect.any(String), razorpay_signature: expect.any(String) },
      ],
    ]);
  expect(await isOpen(page)).toBe(0);
  expect(problems).toEqual([]);
});

test("a failing card shows the reason and stays open; a second card pays", async () => {
  const { page, dialog, heard, fill } = await openDialog();
  await fill("5305 6200 0003 0003");
  await dialog.getByRole("alert").getByText("The test bank declined this card.").waitFor();
  expect(await heard()).toEqual([["failed", "card_declined"]]);
  expect(await isOpen(page)).toBe(1);
  await fill("5555 5555 5555 4444");
  await expect.poll(async () => (await heard()).map(([event]) => event)).toEqual(["failed", "paid"]);
});

test("in rupees UPI comes first, by keyboard at 390 px; a declined one says so, the other methods are one key away (G365)", async () => {
  const { page, dialog, heard, problems } = await openDialog({ currency: "INR", width: 390 });
  await dialog.locator("#vpa:focus").waitFor();
  expect(await dialog.getByRole("radio", { name: "UPI" }).isChecked()).toBe(true);
  expect(await dialog.getByLabel("Card number").isVisible()).toBe(false);
  await page.keyboard.type("ada.lovelace@okaxis");
  await page.keyboard.press("Enter");
  await dialog.getByText("Only test addresses work here. Use success@razorpay.").waitFor();
  expect(await heard()).toEqual([]);
  await dialog.getByLabel("UPI ID").fill("failure@razorpay");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").getByText("The payment was declined in the UPI app.").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Shift+Tab");
  for (const field of ["#number", "#bank", "#wallet"]) {
    await page.keyboard.press("ArrowRight");
    await dialog.locator(field).waitFor();
    expect(await violations(page), field).toEqual([]);
  }
  expect(await page.frames()[1]?.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
  await dialog.getByRole("button", { name: "Pay ₹212" }).press("Enter");
  await expect.poll(async () => (await heard()).map(([event]) => event)).toEqual(["failed", "paid"]);
  expect(problems).toEqual([]);
});

test("a payment that waits for an approval says so, can be left, and pays once it is approved (G365)", async () => {
  const { page, dialog, heard, approve, problems } = await openDialog({ currency: "INR", width: 390, scheme: "dark" });
  await dialog.getByLabel("UPI ID").fill("Pending@razorpay");
  await page.keyboard.press("Enter");
  const status = dialog.getByRole("status");
  await status.getByText("Approve it in your UPI app").waitFor();
  await status.getByText("if nobody approves it, nothing is charged", { exact: false }).waitFor();
  await dialog.locator(".close:focus").waitFor();
  expect(await dialog.getByRole("button", { name: "Pay ₹212" }).isVisible()).toBe(false);
  expect(await violations(page)).toEqual([]);
  expect(await heard()).toEqual([]);
  await approve();
  await expect.poll(async () => (await heard()).map(([event]) => event), { timeout: 20_000 }).toEqual(["paid"]);
  expect(problems).toEqual([]);
});

test("one that nobody approves fails in the dialog, which then takes another; left while it waits, it is dismissed (G365)", async () => {
  const { page, dialog, heard, approve } = await openDialog({ currency: "INR" });
  await dialog.getByLabel("UPI ID").fill("expired@razorpay");
  await page.keyboard.press("Enter");
  await dialog.getByText("Approve it in your UPI app").waitFor();
  await approve();
  await dialog
    .getByRole("alert")
    .getByText("The payment was not approved in the UPI app in time.")
    .waitFor({ timeout: 20_000 });
  await dialog.getByLabel("UPI ID").fill("pending@razorpay");
  await page.keyboard.press("Enter");
  await dialog.getByText("Approve it in your UPI app").waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(heard).toEqual([["failed", "payment_collect_request_expired"], ["dismissed"]]);
});

test("a real card number never leaves the browser", async () => {
  const { page, dialog, heard, fill } = await openDialog();
  const sent: string[] = [];
  page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
  await fill("4242 4242 4242 4242", "01/20", "x");
  await dialog.getByText("Only test cards work here. Use 5555 5555 5555 4444.").waitFor();
  await dialog.getByText("A future month, as MM/YY").waitFor();
  await dialog.getByText("3 or 4 digits").waitFor();
  expect(sent).toEqual([]);
  expect(await heard()).toEqual([]);
});

test("dismissed by the button or Escape: ondismiss once, and the page gets its focus back", async () => {
  for (const way of ["button", "Escape"] as const) {
    const { page, dialog, heard } = await openDialog();
    const cancel = dialog.getByRole("button", { name: "Cancel payment" });
    await cancel.waitFor();
    if (way === "button") await cancel.click();
    else await dialog.getByLabel("Card number").press("Escape");
    await expect.poll(heard).toEqual([["dismissed"]]);
    expect(await isOpen(page)).toBe(0);
  }
});

test("retry: false closes after a failure; escape: false keeps it open; a foreign message changes nothing", async () => {
  const once = await openDialog({ options: "retry: false" });
  await once.fill("5305 6200 0005 0001");
  await expect.poll(once.heard).toEqual([["failed", "insufficient_fund"], ["dismissed"]]);
  const firm = await openDialog({ options: "modal: { escape: false }" });
  await firm.dialog.getByLabel("Card number").press("Escape");
  await firm.page.evaluate(`window.postMessage({ checkout: "${firm.id}", event: "close" }, "*")`);
  await firm.dialog.getByRole("button", { name: "Pay $2.40" }).waitFor();
  expect(await isOpen(firm.page)).toBe(1);
  expect(await firm.page.evaluate("(() => { try { new Razorpay({}); } catch (error) { return error.name; } })()")).toBe(
    "TypeError",
  );
});

test("what happens next is chosen in the dialog: closed, though it was paid; the time left goes on", async () => {
  const { page, dialog, heard, fill, problems } = await openDialog();
  await dialog.getByRole("link", { name: "Choose what happens next" }).click();
  await dialog.getByRole("heading", { name: "What happens next" }).waitFor();
  await dialog.locator("input:checked:focus").waitFor();
  await dialog.getByLabel("Is made, though the dialog closes").check();
  await dialog.getByRole("button", { name: "Use it" }).click();
  await dialog.getByText("The payment is made, though the dialog closes.").waitFor();
  await dialog.getByText(/^1[34]:\d\d$/).waitFor();
  await fill("5555 5555 5555 4444");
  await expect.poll(heard).toEqual([["dismissed"]]);
  expect(await isOpen(page)).toBe(0);
  expect(problems).toEqual([]);
});

test("Escape on the page of outcomes goes back to the payment, with nothing chosen", async () => {
  const { dialog, heard } = await openDialog();
  await dialog.getByRole("link", { name: "Choose what happens next" }).click();
  await dialog.getByLabel("Never come").check();
  await dialog.getByLabel("Never come").press("Escape");
  await dialog.getByLabel("Card number").waitFor();
  expect(await dialog.getByRole("status").count()).toBe(0);
  expect(await heard()).toEqual([]);
});

test("axe finds nothing in both schemes, at 390 px too, with errors shown; no horizontal scrolling", async () => {
  for (const [width, scheme] of [
    [390, "light"],
    [1280, "dark"],
  ] as const) {
    const { page, dialog, fill } = await openDialog({ width, scheme });
    await dialog.getByLabel("Card number").waitFor();
    await page.evaluate("document.fonts.ready");
    expect(await violations(page)).toEqual([]);
    await fill("1234");
    expect(await violations(page)).toEqual([]);
    const frame = page.frames()[1];
    expect(await frame?.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    await dialog.getByRole("link", { name: "Choose what happens next" }).click();
    await dialog.getByRole("button", { name: "Use it" }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await frame?.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
  }
});

test("the page may only be framed by its own origin and runs only its own script", async () => {
  const { app, id } = await openDialog();
  const page = await app.inject(`/embedded-gateway/v1/checkout?order_id=${id}&name=%3Cscript%3E`);
  expect(page.headers["content-security-policy"]).toContain("script-src 'self'");
  expect(page.headers["content-security-policy"]).toContain("frame-ancestors 'self'");
  expect(page.body).not.toContain("<script>");
  const unknown = await app.inject("/embedded-gateway/v1/checkout?order_id=x");
  expect([unknown.statusCode, unknown.body.includes("Unknown order")]).toEqual([404, true]);
});

async function violations(page: Page) {
  const { violations: found } = await new AxeBuilder({ page }).analyze();
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
