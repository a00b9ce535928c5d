// npm run pictures: draws the pictures of docs/use and docs/operate from a running product, in both schemes, as small WebP files.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BrowserContext, chromium, type Locator, type Page } from "@playwright/test";
import { builtOperator } from "../server/src/testing/built-programs.ts";
import { freePort } from "../server/src/testing/free-port.ts";
import { browserPath } from "../testing/browser.ts";
import { type Customer, create, must, orderAndPay, signUp, until } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import { type Product, removeFolder, startProduct } from "../testing/product.ts";
import { newNotebook, openSession, runCell } from "./testing/jupyter.ts";
import { storeSession } from "./testing/test.ts";

const root = join(import.meta.dirname, "..");
/** The width of the design: a table has its rows. A page shows a picture smaller, and opens it in its own size. */
const viewport = { width: 1440, height: 1000 };
/** Around what is drawn. */
const margin = 24;
const quality = 0.82;

const browser = await chromium.launch({
  executablePath: environment.chromium ?? browserPath(),
  args: ["--no-sandbox", "--disable-gpu", "--in-process-gpu"],
});
try {
  for (const part of ["use", "operate"]) mkdirSync(join(root, "docs", part, "pictures"), { recursive: true });
  // GPUs that this machine need not have.
  await withProduct({ RUNTIME: "fake", FAKE_DRIVER: "gpus=8" }, drawScreens);
  const port = String(await freePort());
  await withProduct({ RUNTIME: "fake", FAKE_DRIVER: "gpus=8", OPERATOR_PORT: port }, (scene) =>
    drawConsole(scene, `http://localhost:${port}`),
  );
  await withProduct({}, drawNotebook);
} finally {
  await browser.close();
}

interface Scene {
  readonly product: Product;
  readonly customer: Customer;
  readonly page: Page;
}

async function withProduct(env: Readonly<Record<string, string>>, draw: (scene: Scene) => Promise<void>) {
  const product = await startProduct({ env });
  try {
    const customer = await signUp(product.url);
    const context = await browser.newContext({
      ...{ viewport, deviceScaleFactor: 1.25, reducedMotion: "reduce", locale: "en-US", timezoneId: "UTC" },
    });
    await storeSession(context, product.url, customer);
    await draw({ product, customer, page: await context.newPage() });
  } finally {
    await product.stop();
    removeFolder(product.dataDir);
  }
}

async function drawScreens({ product, customer, page }: Scene): Promise<void> {
  const { url } = product;
  await page.goto(`${url}/environments/create?step=2`);
  await page.getByRole("radio", { name: /^2 GPUs/ }).waitFor();
  await draw(page, "use/pictures/choose", page.getByText("How many GPUs?"), page.getByText(/^The hourly plan/));
  await rent(product, customer, "my-first");
  await page.goto(`${url}/environments`);
  const open = page.getByRole("link", { name: "Open Session" });
  await draw(page, "use/pictures/list", page.getByText("Showing 1 of 1"), open);
  const order = await rent(product, customer, "old-study");
  await terminate(product, "old-study");
  await page.goto(`${url}/billing/orders/${order}`);
  const timeline = page.getByRole("region", { name: "What happened" });
  await timeline.getByText("Sent to your bank").waitFor();
  await draw(page, "use/pictures/refund", page.getByText("Where the money is"), timeline);
}

async function drawNotebook({ product, customer, page }: Scene): Promise<void> {
  await until("JupyterLab to be prepared", () => isPrepared(product), 300_000);
  await rent(product, customer, "my-first");
  await page.goto(`${product.url}/environments`);
  const session = await openSession(page, page.getByRole("link", { name: "Open Session" }));
  // Wide enough for all of the bar.
  await session.setViewportSize({ width: 1440, height: 560 });
  await newNotebook(session);
  await runCell(session, "print(sum(range(10)))", "45");
  await session.getByText("| Idle").waitFor();
  await save(page.context(), "use/pictures/notebook", await session.screenshot());
  const serve = "subprocess.Popen(['python', '-m', 'http.server', '8080', '--bind', '127.0.0.1'])";
  await runCell(session, `import subprocess; print('began', ${serve}.pid)`, "began");
  await page.goto(`${product.url}/environments/${idOf(product, "my-first")}?tab=access`);
  await page.getByRole("link", { name: "Open port 8080" }).waitFor();
  await draw(page, "use/pictures/ports", page.getByRole("tablist"), page.getByRole("region", { name: "Ports" }));
  await session.close();
  await terminate(product, "my-first");
  await page.goto(`${product.url}/environments`);
  const [files, last] = [
    page.getByRole("heading", { name: "Kept files" }),
    page.getByRole("button", { name: "Delete now" }),
  ];
  await draw(page, "use/pictures/kept-files", files, last);
}

async function drawConsole({ product, customer, page }: Scene, url: string): Promise<void> {
  await rent(product, customer, "my-first", 2);
  await rent(product, customer, "resnet", 4);
  const order = await rent(product, customer, "old-study", 1);
  await terminate(product, "old-study");
  await signIn(product, page, url);
  const shown = page.getByRole("main");
  await page.goto(`${url}/operator`);
  const latest = page.getByRole("region", { name: "What happened last" });
  await latest.getByText("old-study").first().waitFor();
  await page.getByRole("heading", { name: /problems found|finding/ }).waitFor();
  await page.locator(".recharts-line-curve").nth(2).waitFor({ state: "attached" });
  await draw(page, "operate/pictures/now", shown, latest);
  await page.goto(`${url}/operator/hosts`);
  await page
    .getByRole("link", { name: /resnet/ })
    .first()
    .waitFor();
  await draw(page, "operate/pictures/hosts", shown, page.getByRole("region", { name: "Hosts" }));
  await page.goto(`${url}/operator/orders/${order}`);
  const timeline = page.getByRole("region", { name: "What happened" });
  await timeline.getByText("Sent to").waitFor();
  await draw(page, "operate/pictures/order", shown, timeline);
}

/** By the link of a new operator; the console on loopback asks for no second factor. */
async function signIn(product: Product, page: Page, url: string): Promise<void> {
  const [link = ""] =
    /\bhttp\S+/.exec(operate({ ...product, console: new URL(url).port }, "operators", "add", "ada@berth.example")) ??
    [];
  await page.goto(link);
  await page.getByLabel("Password", { exact: true }).fill("good password 1");
  await page.getByRole("button", { name: "Set up and sign in" }).click();
  await page.getByRole("button", { name: "Open the console" }).click();
  await page.getByRole("heading", { name: "Now", level: 1 }).waitFor();
}

async function isPrepared({ url }: Product): Promise<boolean> {
  const { types } = await must(url, "GET", "/capacity");
  return types.some((each: { type: string; state: string }) => each.type === "jupyter" && each.state === "ready");
}

/** Returns the provider's id of the order. */
async function rent({ url }: Product, customer: Customer, subdomain: string, gpuCount = 1): Promise<string> {
  const paid = await orderAndPay(url, customer, { subdomain, gpuCount, duration: 24 });
  await create(url, customer, paid);
  return paid.payment_data.razorpay_order_id;
}

/** As an operator does, with the unused time paid back. */
async function terminate(product: Product, name: string): Promise<void> {
  const id = idOf(product, name);
  operate(product, "environments", "terminate", id, "--reason", "Its disk failed.");
  const status = () => JSON.parse(operate(product, "environment", id, "--json")).status;
  await until("its end", async () => status() === "terminated");
}

function idOf(product: Product, name: string): string {
  return JSON.parse(operate(product, "environment", name, "--json")).id;
}

function operate({ dataDir, port, console = "" }: Product & { readonly console?: string }, ...words: string[]): string {
  const env = { ...environment.shell, ENV_FILE: "", DATA_DIR: dataDir, PORT: String(port), OPERATOR_PORT: console };
  return execFileSync(process.execPath, [builtOperator, ...words], { env, encoding: "utf8" });
}

/** Draws the column of the page from one part of it to another, in the light and in the dark scheme. */
async function draw(page: Page, name: string, from: Locator, to: Locator): Promise<void> {
  const [top, bottom] = [await boxOf(from.first()), await boxOf(to.first())];
  // Last, because the screen that loads has one too.
  const main = await boxOf(page.getByRole("main"));
  const y = Math.max(main.y, top.y - margin);
  const clip = { x: main.x, width: main.width, y, height: bottom.y + bottom.height + margin - y };
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.evaluate(() => document.fonts.ready);
    await save(page.context(), colorScheme === "dark" ? `${name}-dark` : name, await page.screenshot({ clip }));
  }
  await page.emulateMedia({ colorScheme: "light" });
}

/** A list that is read again replaces its rows, and what is gone has no box. */
function boxOf(part: Locator) {
  return until("a part of the picture", async () => (await part.boundingBox()) ?? undefined);
}

/** The browser itself makes the WebP. */
async function save(context: BrowserContext, name: string, png: Buffer): Promise<void> {
  const blank = await context.newPage();
  const webp = await blank.evaluate(
    async ({ source, quality }) => {
      const picture = await createImageBitmap(await (await fetch(source)).blob());
      const canvas = Object.assign(document.createElement("canvas"), { width: picture.width, height: picture.height });
      canvas.getContext("2d")?.drawImage(picture, 0, 0);
      return canvas.toDataURL("image/webp", quality);
    },
    { source: `data:image/png;base64,${png.toString("base64")}`, quality },
  );
  await blank.close();
  const bytes = Buffer.from(webp.split(",")[1] ?? "", "base64");
  writeFileSync(join(root, "docs", `${name}.webp`), bytes);
}
