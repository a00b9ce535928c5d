import type { Page } from "@playwright/test";
import { inHours } from "../testing/containers.ts";
import { expect, test } from "../testing/test.ts";
import { visit } from "../testing/visit.ts";

/** Answers with the fields of spec 3 and 7, and no other (G303). */
const month = { month: "2026-11", totalPaid: 2.4, paymentCount: 1, avgPayment: 2.4 };
const payment = {
  amount: 2.4,
  status: "paid",
  created_at: inHours(-30),
  service_details: { container_type: "jupyter", duration_hours: 6 },
};
const answers: readonly (readonly [RegExp, object])[] = [
  [/^\/auth\/validate$/, { status: "success" }],
  [
    /^\/profile\/[^/]+$/,
    {
      status: "success",
      profile: {},
      user_data: {
        containers: {
          _meta: {},
          aaaaaaaa1111: { type: "jupyter", status: "running", created_at: inHours(-720), expires_at: inHours(0.5) },
          bbbbbbbb2222: {
            type: "pytorch",
            status: "pending",
            subdomain: "resnet",
            gpu_count: 4,
            created_at: inHours(0),
          },
          cccccccc3333: {
            type: "jupyter",
            status: "paused",
            subdomain: null,
            created_at: inHours(-24),
            expires_at: inHours(0),
          },
          dddddddd4444: {
            type: "jupyter",
            status: "stopped",
            subdomain: "rest",
            created_at: "soon",
            expires_at: "later",
          },
          eeeeeeee5555: { type: "tensorflow", status: "terminated", created_at: inHours(-9), expires_at: inHours(-8) },
          ffffffff6666: { type: "jupyter", status: "melted", subdomain: "odd", created_at: inHours(-1) },
        },
        payment_info: { p1: payment },
      },
    },
  ],
  [
    /^\/billing\/[^/]+$/,
    {
      currentMonthUsage: 2.4,
      totalSpent: 2.4,
      paymentCount: 1,
      monthlyTotals: { "2026-11": 2.4 },
      usageBreakdown: [{ service: "jupyter", usage: 6, cost: 2.4, unit: "hours" }],
      invoices: [
        {
          number: "INV-p1234567890",
          id: "p1234567890",
          date: inHours(-30),
          amount: 2.4,
          status: "Paid",
          description: "jupyter Environment",
          duration: "6 hours",
        },
      ],
      recentPayments: [payment],
      chartData: [month],
    },
  ],
  [/^\/settings\/[^/]+$/, { profile: { name: "Ada", email: "ada@example.com" } }],
];

/** Calls that are ours are not there; the documents, the scripts and the app's own settings are. */
async function answerLiterally(page: Page): Promise<void> {
  await page.route("**/*", (route) => {
    const { pathname } = new URL(route.request().url());
    if (!["fetch", "xhr", "eventsource"].includes(route.request().resourceType())) return route.continue();
    if (pathname === "/config" || pathname.startsWith("/assets/")) return route.continue();
    const answer = answers.find(([path]) => path.test(pathname))?.[1];
    return answer ? route.fulfill({ json: answer }) : route.fulfill({ status: 404, json: {} });
  });
}

/** Each with a text that stands there once it is drawn. */
const screens = [
  ["/dashboard", "Recent Environments"],
  ["/environments", "Showing 6 of 6 environments"],
  ["/environments/create", "What should be installed?"],
  ["/environments/create?step=2", "How many GPUs?"],
  ["/environments/create?step=3", "Subdomain"],
  ["/billing", "Usage by environment type"],
  ["/billing?tab=invoices", "INV-p1234567890"],
  ["/support", "Get Direct Support"],
  ["/settings", "Email cannot be changed."],
  ["/settings?tab=password", "Current password"],
  ["/settings?tab=notifications", "Billing alerts"],
  ["/settings?tab=security", "Security"],
  ["/settings?tab=data", "Your data"],
  ["/terms-condition", "Terms of Service"],
  ["/refund", "4-5 business days"],
  ["/privacy-policy", "Privacy Policy"],
  ["/legal-compliance", "Legal Compliance Summary"],
] as const;

async function expectWhole(page: Page, path: string, text: string): Promise<void> {
  await visit(page, path);
  await expect(page.getByText(text).locator("visible=true").first(), path).toBeVisible();
  const shown = await page.locator("body").innerText();
  for (const wrong of ["undefined", "NaN", "This page broke", "null", "[object"])
    expect(shown, `${path}: ${wrong}`).not.toContain(wrong);
}

for (const width of [1440, 390]) {
  test(`every screen stands on the specified answers alone, at ${width} px (3, 7, G303)`, async ({
    page,
    customer: _,
  }) => {
    await page.setViewportSize({ width, height: 900 });
    const broken: string[] = [];
    page.on("pageerror", ({ message }) => broken.push(message));
    await answerLiterally(page);
    await page.goto("/dashboard");
    await expect(page.getByRole("heading", { name: "Welcome back, User" })).toBeVisible();
    // 720.5, 24, 1 hours; an unreadable or missing end counts nothing (9, G24).
    await expect(page.getByText("745.5", { exact: true })).toBeVisible();
    const unnamed = page.getByRole("listitem").filter({ hasText: "Container-aaaaaaaa" });
    await expect(unnamed).toContainText("N/A");
    await expect(unnamed).toContainText("1 GPU");
    await expect(unnamed.getByRole("link", { name: "Open Session" })).toHaveCount(0);
    for (const [path, text] of screens) await expectWhole(page, path, text);

    await visit(page, "/environments");
    const row = page.getByRole("row", { name: /Container-aaaaaaaa/ });
    await expect(row.getByRole("button", { name: "Pause" })).toBeVisible();
    await expect(row.getByRole("link", { name: "Open Session" })).toHaveCount(0);
    await expect(row.getByRole("button", { name: /Copy/ })).toHaveCount(0);
    await page.getByLabel("Search environments").fill("container-c");
    await expect(page.getByText("Showing 1 of 6 environments")).toBeVisible();
    await expect(page.getByRole("row", { name: /Container-cccccccc/ })).toBeVisible();
    expect(broken).toEqual([]);
  });
}
