import { AxeBuilder } from "@axe-core/playwright";
import type { Page, Request } from "@playwright/test";
import { create, orderAndPay } from "../testing/customer.ts";
import { openPart, region } from "./testing/environment-page.ts";
import { newNotebook, openSession, runCell } from "./testing/jupyter.ts";
import { expect, test } from "./testing/test.ts";
import { checkScreen } from "./testing/viewports.ts";

test("JupyterLab's terminal uses the home's python and pip; widgets and progress bars update, also after a restart; a port opens (G385); a cell goes on without a page (G377); the bar says what the page says, and why it ended (G392, G393, G394)", async ({
  page,
  product,
  customer,
  database,
}) => {
  test.setTimeout(240_000);
  const subdomain = `inside-${Date.now().toString(36)}`;
  await create(
    product.url,
    customer,
    await orderAndPay(product.url, customer, { subdomain, gpuCount: 1, duration: 1 }),
  );
  await page.goto("/environments");
  const row = page.locator("tr[data-status]", { hasText: subdomain });
  const link = row.getByRole("link", { name: "Open Session" });

  // The bar goes on after a question that fails.
  await page.context().route("**/_berth/state", (route) => route.abort(), { times: 1 });
  const session = await openSession(page, link);
  const port = 20_000 + (Date.now() % 10_000);
  const where = "(python -c 'import sys; print(sys.prefix)'; pip --version) > new; mv new where.txt";
  await typeIntoTerminal(session, `${where}; python -m http.server ${port} --bind 127.0.0.1`);
  await session.locator('.jp-FileBrowser [data-command="launcher:create"]').first().click();
  await newNotebook(session);
  const look = "import os, time; [time.sleep(0.1) for _ in range(200) if not os.path.exists('where.txt')]";
  await runCell(session, `${look}; print(open('where.txt').read())`, "/.local/python");
  await expect(session.locator(".jp-OutputArea-output", { hasText: /pip [\d.]+ from/ })).toBeVisible();
  await showWidgets(session);
  await opensPort(page, subdomain, port);

  await saysWhatThePageSays(session, subdomain);
  const end = new Date(Date.now() + 540_000);
  await database.db.updateTable("environments").set({ expires_at: end }).where("subdomain", "=", subdomain).execute();
  await warnsOnPhone(session, subdomain);
  const notice = session.getByRole("alert").filter({ hasText: "This environment" });
  await row.getByRole("button", { name: "Pause" }).click();
  await expect(notice).toContainText("This environment is paused");
  await notice.getByRole("button", { name: "Restart" }).click();
  await expect(notice).toBeHidden();
  await runCell(session, "print(6 * 7, 'again')", "42 again");
  await session.locator("#berth-bar").getByRole("button", { name: "Stop" }).click();
  await session
    .locator(".jp-Dialog", { hasText: `Stop ${subdomain}?` })
    .getByRole("button", { name: "Stop" })
    .click();
  await expect(notice).toContainText(/This environment was stopped at \d+:\d\d [AP]M by you.*(is|are) banked/);
  await expect(session.locator(".jp-Dialog")).toHaveCount(0);
  await expect(row).toContainText("Stopped");
  await row.getByRole("button", { name: "Restart" }).click();
  await expect(row).toContainText("Active", { timeout: 30_000 });
  await expect(notice).toContainText("This environment runs again", { timeout: 30_000 });
  await session.close();
  const again = await openSession(page, link);
  await newNotebook(again);
  await showWidgets(again);
  await goesOnWithoutPage(again, () => openSession(page, link));
});

/** The environment's page lists what listens inside, and opens it at an address of its own without a question (G385). */
async function opensPort(page: Page, subdomain: string, port: number): Promise<void> {
  await page.getByRole("link", { name: subdomain, exact: true }).click();
  await openPart(page, "Access");
  const ports = region(page, "Ports");
  await expect(ports.getByRole("row", { name: new RegExp(`^${port} http\\.server`) })).toBeVisible({ timeout: 15_000 });
  const [opened] = await Promise.all([
    page.context().waitForEvent("page"),
    ports.getByRole("link", { name: `Open port ${port}` }).click(),
  ]);
  await expect(opened.getByRole("link", { name: "where.txt" })).toBeVisible();
  expect(new URL(opened.url()).hostname.split(".")[0]).toBe(`${port}--${subdomain}`);
  // Without a click in the app it is asked first; here nothing listens.
  await opened.goto(opened.url().replace(`//${port}--`, `//${port + 1}--`));
  await opened.getByRole("button", { name: `Open port ${port + 1} of ${subdomain}` }).click();
  await expect(opened.getByRole("heading")).toHaveText(`Nothing listens on port ${port + 1} in this environment`);
  await checkScreen(opened, "gateway-port");
  await opened.close();
  await page.goto("/environments");
}

/** Time and cost are the page's own (G392). */
async function saysWhatThePageSays(session: Page, subdomain: string): Promise<void> {
  const bar = session.getByRole("region", { name: "Rental" });
  await expect(bar.locator("b")).toHaveText(subdomain);
  await expect(session).toHaveTitle(new RegExp(subdomain));
  const opened = session.context().waitForEvent("page");
  await bar.getByRole("link", { name: "Environment page" }).click();
  const detail = await opened;
  const facts = detail.getByRole("complementary", { name: "About this environment" });
  const shown = () =>
    Promise.all([facts.innerText(), bar.locator("[data-time]").innerText(), bar.locator("[data-cost]").innerText()]);
  await expect
    .poll(async () => {
      const [page, time, cost] = await shown();
      return [/\d+m left/.exec(page)?.[0] === time, page.includes(`${cost} of $`)];
    })
    .toEqual([true, true]);
  await detail.close();
  const { violations } = await new AxeBuilder({ page: session }).include("#berth-bar").setLegacyMode().analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`)).toEqual([]);
}

/** Ten minutes before the end there is a notice; the file browser makes room (G392). */
async function warnsOnPhone(session: Page, subdomain: string): Promise<void> {
  const phone = await session.context().newPage();
  await phone.setViewportSize({ width: 390, height: 844 });
  await phone.goto(session.url());
  await expect(phone.getByText(`${subdomain} ends at `)).toBeVisible();
  await expect(phone.getByRole("button", { name: "Add time" })).toBeVisible();
  await phone.getByRole("button", { name: "Rental" }).click();
  const add = phone.getByRole("link", { name: "Add time" });
  await expect(add).toBeInViewport({ ratio: 1 });
  await expect(phone.locator(".jp-FileBrowser")).toBeHidden();
  await phone.keyboard.press("Escape");
  await expect(add).toBeHidden();
  await phone.close();
}

/** Closes the page while a cell prints, opens another one, and reads all that was printed, before and after (G377). */
async function goesOnWithoutPage(session: Page, open: () => Promise<Page>): Promise<void> {
  const cell = (at: Page) => at.locator(".jp-CodeCell", { hasText: "go-on" });
  const printed = async (at: Page) =>
    (await cell(at).locator(".jp-OutputArea-output").allInnerTexts()).map((text) => text.trim());
  const lines = (count: number) => Array.from({ length: count }, (_, n) => `line ${n}`).join("\n");
  const pause = "[time.sleep(0.1) for _ in range(900) if n == 20 and not os.path.exists('go-on')]";
  await session.locator(".jp-CodeCell").last().locator(".cm-content").click();
  await session.keyboard.type(
    `import os, time; [(print('line', n, flush=True), ${pause}) for n in range(60)] and None`,
  );
  const isSave = (request: Request) => request.method() === "PUT" && request.url().includes(".ipynb");
  const saved = session.waitForResponse((response) => isSave(response.request()) && response.ok());
  await session.keyboard.press("Control+s");
  await saved;
  await session.keyboard.press("Shift+Enter");
  await expect.poll(async () => (await printed(session)).join("")).toContain("line 3");
  await session.close();

  // As does what reads on.
  await session.context().route("**/berth/outputs?*", (route) => route.abort(), { times: 1 });
  const later = await open();
  await expect.poll(() => printed(later), { timeout: 30_000 }).toEqual([lines(21)]);
  await expect(cell(later).locator(".jp-InputPrompt")).toHaveText("[*]:");
  const content = { type: "file", format: "text", content: "" };
  await later.evaluate(
    (body) => fetch("/api/contents/go-on", { method: "PUT", body, headers: { "content-type": "application/json" } }),
    JSON.stringify(content),
  );
  await expect.poll(() => printed(later), { timeout: 30_000 }).toEqual([lines(60)]);
  await expect(cell(later).locator(".jp-InputPrompt")).toHaveText(/\[\d+\]:/);
}

/** The terminal draws on a canvas, so the command writes its result to a file. */
async function typeIntoTerminal(session: Page, line: string): Promise<void> {
  await session.locator('.jp-LauncherCard[data-category="Other"]', { hasText: "Terminal" }).click();
  const input = session.locator(".jp-Terminal .xterm-helper-textarea");
  await input.focus();
  await input.pressSequentially(line);
  await input.press("Enter");
}

async function showWidgets(session: Page): Promise<void> {
  await runCell(session, "import ipywidgets; ipywidgets.IntSlider(7, description='SLIDE')", "SLIDE");
  await expect(session.locator(".widget-hslider .noUi-handle").last()).toBeVisible();
  await runCell(session, "from tqdm.auto import tqdm; print(sum(tqdm(range(20))))", "190");
  await expect(session.locator(".jp-OutputArea-output .jupyter-widgets", { hasText: "20/20" }).last()).toBeVisible();
}
