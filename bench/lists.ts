import { type Browser, chromium, type Page } from "@playwright/test";
import { browserPath } from "../testing/browser.ts";
import { type Customer, must, signUp, until } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import type { Product } from "../testing/product.ts";
import { seedHistory } from "../testing/seed.ts";
import { type Figure, inPairs, timed } from "./figure.ts";
import { openProduct } from "./processes.ts";

const environments = 200;
const requests = 200;
const warming = 20;
/** Typed key by key, each after the previous paint: narrows two hundred rows to one, then deletes again. */
const typed = "many-10";

/**
 * A full account: the cost of billing on the server beside the shortest call, and of a key stroke in the list's search in the
 * browser beside the same key stroke with one environment.
 */
export async function measure(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const product = await openProduct(stack, { RUNTIME: "fake" });
  const [full, one] = [await signUp(product.url), await signUp(product.url)];
  await seedHistory(product, full, { count: environments, prefix: "many" });
  await seedHistory(product, one, { count: 1, prefix: "one" });
  return [await billing(product, full), await filtering(product, full, one)];
}

async function billing({ url }: Product, { userId, idToken: token }: Customer): Promise<Figure> {
  const ours = () => timed(() => must(url, "GET", `/billing/${userId}`, { token }));
  const { samples, peer } = await inPairs(requests + warming, ours, () => timed(() => must(url, "GET", "/readyz")));
  const warm = { samples: samples.slice(warming), peer: peer.slice(warming), beside: "GET /readyz" };
  return { name: `lists, billing of ${environments} payments`, unit: "ms", ...warm };
}

async function filtering(product: Product, full: Customer, one: Customer): Promise<Figure> {
  const browser = await chromium.launch({
    executablePath: environment.chromium ?? browserPath(),
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const samples = await keyStrokes(browser, product, full, `Showing ${environments} of ${environments}`);
    const peer = await keyStrokes(browser, product, one, "Showing 1 of 1");
    const name = `lists, key stroke that filters ${environments} environments`;
    return { name, unit: "ms", samples, peer, beside: "of 1 environment" };
  } finally {
    await browser.close();
  }
}

/** Milliseconds from the end of the debounce to the paint of the filtered list, for each key stroke. */
async function keyStrokes(
  browser: Browser,
  { url }: Product,
  { email, password }: Customer,
  all: string,
): Promise<readonly number[]> {
  const page = await browser.newPage({ baseURL: url, viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
  await page.addInitScript(watchFilter);
  await page.goto("/login");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.locator("form").getByRole("button", { name: "Login" }).click();
  await page.waitForURL("**/dashboard");
  await page.goto("/environments");
  await page.getByText(all).waitFor();
  await page.getByRole("textbox", { name: /search/i }).focus();
  const keys = [...typed, ...Array.from(typed, () => "Backspace")];
  for (const key of [...keys, ...keys, ...keys]) await press(page, key);
  const samples = await page.evaluate(() => (globalThis as unknown as Watched).filtered);
  await page.close();
  // The first round warms up the JIT compiler.
  return samples.slice(keys.length);
}

async function press(page: Page, key: string): Promise<void> {
  const count = () => page.evaluate(() => (globalThis as unknown as Watched).filtered.length);
  const before = await count();
  await page.keyboard.press(key);
  await until(`the list to be filtered after ${key}`, async () => (await count()) > before, 5_000);
}

interface Watched {
  filtered: number[];
}

/**
 * Runs in the page. A 300 ms timer that changes the URL is the debounce; React commits the search tag together with the
 * list; a message posted in the next animation frame arrives after the paint.
 */
function watchFilter(): void {
  const debounceMs = 300;
  const watched = globalThis as unknown as Watched;
  watched.filtered = [];
  const plain = window.setTimeout.bind(window);
  const painted = (began: number) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => watched.filtered.push(performance.now() - began);
    requestAnimationFrame(() => channel.port2.postMessage(null));
  };
  const drawn = (began: number) => {
    const search = new URLSearchParams(location.search).get("search");
    const text = document.querySelector("main")?.textContent ?? "";
    if (search === null ? text.includes("Search: ") : !text.includes(`Search: ${search}Clear`)) return false;
    painted(began);
    return true;
  };
  const patched = (work: TimerHandler, delay?: number, ...rest: unknown[]) => {
    if (delay !== debounceMs || typeof work !== "function") return plain(work, delay, ...rest);
    return plain(() => {
      const began = performance.now();
      const { search } = location;
      work();
      if (location.search === search || drawn(began)) return;
      const observer = new MutationObserver(() => drawn(began) && observer.disconnect());
      observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    }, delay);
  };
  window.setTimeout = patched as typeof window.setTimeout;
}
