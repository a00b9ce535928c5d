import { create, must, orderAndPay, send, signUp } from "../../testing/customer.ts";
import { expect, signIn, test } from "../testing/test.ts";

const keys = (value: object) => Object.keys(value).sort();

test("profile, container, payment, invoice and billing have the fields of section 3 (G17, G18, G20, G67, G87)", async ({
  product,
}) => {
  const ada = await signUp(product.url);
  const subdomain = `fields-${Date.now().toString(36)}`;
  const paid = await orderAndPay(product.url, ada, { subdomain, gpuCount: 1 });
  const created = (await create(product.url, ada, paid)).body;
  expect(keys(created)).toEqual(["environment_id", "jupyter_token", "message", "status", "subdomain"]);
  const get = (path: string) => must(product.url, "GET", path, { token: ada.idToken });

  const profile = await get(`/profile/${ada.userId}`);
  expect(profile.status).toBe("success");
  expect(profile.profile).toMatchObject({ name: "Ada Park", email: ada.email, phone: "" });
  const [[id, container]] = Object.entries<Record<string, unknown>>(profile.user_data.containers) as [
    [string, Record<string, unknown>],
  ];
  expect(container).toMatchObject({ type: "jupyter", status: "active", subdomain, gpu_count: 1 });
  for (const instant of [container["created_at"], container["expires_at"]])
    expect(instant).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const hours = (Date.parse(String(container["expires_at"])) - Date.parse(String(container["created_at"]))) / 3_600_000;
  expect(hours).toBeCloseTo(1, 3);
  expect(id).toMatch(/^[0-9a-z]{25}$/);
  const [payment] = Object.values<Record<string, unknown>>(profile.user_data.payment_info);
  expect(payment).toMatchObject({
    amount: 0.2,
    status: "paid",
    service_details: { container_type: "jupyter", duration_hours: 1 },
  });

  const billing = await get(`/billing/${ada.userId}`);
  expect(keys(billing)).toEqual([
    "chartData",
    "currentMonthUsage",
    "invoices",
    "monthlyTotals",
    "paymentCount",
    "recentPayments",
    "status",
    "totalSpent",
    "trend",
    "usageBreakdown",
  ]);
  expect(billing).toMatchObject({ currentMonthUsage: 0.2, totalSpent: 0.2, paymentCount: 1 });
  expect(billing.trend).toEqual({ trend: "up", changePercent: 100 });
  expect(billing.usageBreakdown).toEqual([
    { service: "jupyter", usage: 1, run: expect.any(Number), cost: 0.2, unit: "hours" },
  ]);
  expect(billing.chartData).toHaveLength(6);
  expect(keys(billing.chartData[0])).toEqual(["avgPayment", "month", "paymentCount", "totalPaid"]);
  const [invoice] = billing.invoices;
  expect(invoice).toMatchObject({
    number: `INV-${invoice.id.slice(0, 11)}`,
    amount: 0.2,
    status: "Paid",
    description: "jupyter Environment",
  });

  const settings = await get(`/settings/${ada.userId}`);
  expect(settings.profile).toEqual({ name: "Ada Park", email: ada.email, phone: "" });
  expect(keys(settings.flags)).toEqual([
    "billingAlerts",
    "emailNotifications",
    "marketingEmails",
    "securityAlerts",
    "twoFactorAuth",
  ]);
  await must(product.url, "POST", `/environments/${id}/terminate`, {
    token: ada.idToken,
    body: { confirm: subdomain },
  });
});

test("the browser stores idToken, user_id and userEmail, and removes them at logout (G43)", async ({
  page,
  product,
}) => {
  const ada = await signUp(product.url);
  await signIn(page, ada);
  const stored = () => page.evaluate(() => ({ ...localStorage }));
  expect(await stored()).toMatchObject({
    idToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    user_id: ada.userId,
    userEmail: ada.email,
  });
  await page.getByRole("button", { name: "Dismiss" }).click();
  expect(keys(await stored())).toContain("testCardNoticeDismissed");
  await page.getByRole("button", { name: "Logout" }).click();
  await page.waitForURL("**/login");
  await expect
    .poll(async () => keys(await stored()).filter((key) => /^(idToken|user_id|userEmail)$/.test(key)))
    .toEqual([]);
});

test("a ticket accepts the eight issue types and returns success, message, ticketId and telegramUrl (G59, G60)", async ({
  product,
  customer,
}) => {
  const types = [
    "container_issues",
    "payment_issues",
    "performance_issues",
    "account_access",
    "billing_questions",
    "feature_request",
    "technical_support",
    "other",
  ];
  const catalog = await must(product.url, "GET", "/support/catalog");
  expect(catalog.issueTypes.map(({ value }: { value: string }) => value)).toEqual(types);
  const body = { issueType: "other", description: "Hello", userEmail: customer.email, userId: customer.userId };
  const answer = await must(product.url, "POST", "/support/tickets", { token: customer.idToken, body });
  expect(answer).toEqual({
    success: true,
    message: expect.stringMatching(/./),
    ticketId: expect.stringMatching(new RegExp(`^BRT-${customer.userId.slice(0, 6)}-\\d{4}$`)),
    telegramUrl: expect.stringMatching(/^https:\/\/t\.me\//),
  });
  const refused = await send(product.url, "POST", "/support/tickets", {
    token: customer.idToken,
    body: { ...body, issueType: "weather" },
  });
  expect(refused.status).toBe(400);
});
