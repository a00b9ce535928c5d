import { type Browser, chromium, type Page } from "@playwright/test";
import { type Customer, must, signUp, until } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import { type Product, removeFolder, startProduct } from "../testing/product.ts";
import { openProductDatabase, seedHistory } from "../testing/seed.ts";
import { quantile } from "./quantiles.ts";

const environments = 200;
const requests = 200;
/** Typed key by key, each after the previous paint: narrows two hundred rows to one, then deletes again. */
const typed = "many-10";

/**
 * A full account: the cost of a key stroke in the list's search in the browser, and of billing on the server. The floors
 * are the same key strokes with one environment, and the shortest query.
 */
export async function run(): Promise<void> {
  const product = await startProduct({ env: { RUNTIME: "fake" } });
  try {
    const [full, one] = [await signUp(product.url), await signUp(product.url)];
    await seedHistory(product, full, { count: environments, prefix: "many" });
    await seedHistory(product, one, { count: 1, prefix: "one" });
    await billing(product, full);
    await filtering(product, full, one);
  } finally {
    await product.stop();
    removeFolder(product.dataDir);
  }
}

async function billing(product: Product, customer: Customer): Promise<void> {
  const { db, close } = await openProductDatabase(product);
  const floor = await timed(() => db.selectNoFrom((one) => one.lit(1).as("one")).execute());
  await close();
  const ready = await timed(() => must(product.url, "GET", "/readyz"));
  const all = await timed(() => must(product.url, "GET", `/billing/${customer.userId}`, { token: customer.idToken }));
  line(`GET /billing, ${environments} payments`, all);
  line("GET /readyz (floor with HTTP)", ready);
  line("select 1 (floor)", floor);
  console.log(`billing / readyz: p50 ${ratio(all, ready)}x; billing / select 1: p50 ${ratio(all, floor)}x\n`);
}

async function timed(ask: () => Promise<unknown>): Promise<readonly number[]> {
  const took: number[] = [];
  for (let n = 0; n < requests + 20; n++) {
    const began = performance.now();
    await ask();
    took.push(performance.now() - began);
  }
  return took.slice(20);
}

async function filtering(product: Product, full: Customer, one: Customer): Promise<void> {
  const browser = await chromium.launch({
    executablePath: environment.chromium ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const many = await keyStrokes(browser, product, full, `Showing ${environments} of ${environments}`);
    const single = await keyStrokes(browser, product, one, "Showing 1 of 1");
    line(`filter to painted rows, ${environments} environments`, many);
    line("the same, 1 environment (floor)", single);
    console.log(`filter / floor: p50 ${ratio(many, single)}x`);
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

function line(name: string, samples: readonly number[]): void {
  const at = (share: number) => `${quantile(samples, share).toFixed(1)} ms`.padStart(10);
  console.log(`${name.padEnd(44)} p50 ${at(0.5)}  p95 ${at(0.95)}  worst ${at(1)}`);
}

function ratio(samples: readonly number[], floor: readonly number[]): string {
  return (quantile(samples, 0.5) / quantile(floor, 0.5)).toFixed(1);
}
