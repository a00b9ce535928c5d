import type { Page } from "@playwright/test";
import { must, signUp } from "../testing/customer.ts";
import { seedHistory } from "../testing/seed.ts";
import { expect, storeSession, test } from "./testing/test.ts";

const most = 0.02;

/** A slow network with a high latency, so that every skeleton is shown before its content. */
const slow = { offline: false, latency: 100, downloadThroughput: 800_000, uploadThroughput: 200_000 };

/** Path, and a text of the complete screen. */
const open = [
  ["/", "Pricing"],
  ["/login", "Welcome back"],
  ["/signup", "Create your account"],
  ["/forgot-password", "Send Reset Link"],
  ["/reset-password", "Request New Reset Link"],
  ["/terms-condition", "Terms of Service"],
  ["/refund", "Refund"],
  ["/privacy-policy", "Privacy"],
  ["/legal-compliance", "Legal Compliance"],
  ["/delivery-policy", "Delivery"],
  ["/status", "This installation has run since"],
] as const;
const guarded = [
  ["/dashboard", "Total containers"],
  ["/environments", "Showing 12 of 12 environments"],
  ["/environments/create", "Continue"],
  ["/environments/create?step=2", "slots are free now"],
  ["/billing", "Figures by month"],
  ["/billing?tab=invoices", "The latest 10 payments"],
  ["/support", "Quick Answers"],
  ["/settings", "Save Changes"],
  ["/settings?tab=password", "Confirm"],
  ["/settings?tab=notifications", "alerts"],
] as const;
const fresh = [
  ["/dashboard", "Create Your First Environment"],
  ["/environments", "Create Your First Environment"],
  ["/billing", "No usage data available yet"],
] as const;

for (const [width, height] of [
  [1440, 900],
  [390, 844],
] as const)
  test(`the layout does not shift while a page loads slowly at ${width} px`, async ({ page, product }) => {
    await page.setViewportSize({ width, height });
    const shifts: string[] = [];
    await page.addInitScript(watchShifts);
    const visit = async (routes: readonly (readonly [string, string])[], who: string) => {
      for (const [path, words] of routes) {
        await page.goto(path);
        const { sum, moved } = await shiftOf(page, words);
        if (sum > most) shifts.push(`${path} (${who}): ${sum.toFixed(3)} ${moved.join(", ")}`);
      }
    };
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    const travel = (conditions: typeof slow) => session.send("Network.emulateNetworkConditions", conditions);

    await travel(slow);
    await visit(open, "visitor");
    for (const [routes, who, count] of [
      [fresh, "new", 0],
      [guarded, "regular", 12],
    ] as const) {
      const customer = await signUp(product.url);
      if (count > 0)
        await seedHistory(product, customer, { count, prefix: `shift-${width}-${Date.now().toString(36)}` });
      await storeSession(page.context(), product.url, customer);
      const { invoices } = await must(product.url, "GET", `/billing/${customer.userId}`, { token: customer.idToken });
      const orders = invoices
        .slice(0, 1)
        .map(({ order_id }: { order_id: string }) => [`/billing/orders/${order_id}`, "References"]);
      await visit([...routes, ...orders], who);
    }
    expect(shifts).toEqual([]);
  });

interface Watched {
  shifts: { value: number; moved: string[] }[];
}

/** Runs in the page before its own scripts. */
function watchShifts(): void {
  const watched = globalThis as unknown as Watched;
  watched.shifts = [];
  interface Shift extends PerformanceEntry {
    readonly value: number;
    readonly hadRecentInput: boolean;
    readonly sources: readonly { readonly node: Node | null }[];
  }
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries() as Shift[]) {
      if (hadRecentInput) continue;
      const moved = sources.map(({ node }) => {
        const element = node instanceof Element ? node : node?.parentElement;
        return `${element?.tagName.toLowerCase()}.${element?.className} "${element?.textContent?.slice(0, 30)}"`;
      });
      watched.shifts.push({ value, moved });
    }
  }).observe({ type: "layout-shift", buffered: true });
}

async function shiftOf(page: Page, words: string): Promise<{ sum: number; moved: string[] }> {
  await expect(page.getByText(words).filter({ visible: true }).first()).toBeVisible();
  await expect(page.locator(".mantine-Skeleton-root")).toHaveCount(0);
  return await page.evaluate(async () => {
    await document.fonts.ready;
    // Layout shifts are reported within two frames of the paint.
    for (const _ of [1, 2]) await new Promise((resolve) => requestAnimationFrame(resolve));
    const { shifts } = globalThis as unknown as Watched;
    return { sum: shifts.reduce((sum, { value }) => sum + value, 0), moved: shifts.flatMap(({ moved }) => moved) };
  });
}
