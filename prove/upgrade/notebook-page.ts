import { type Browser, chromium, type Page, type Request } from "@playwright/test";
import { newNotebook, openSession, runCell } from "../../e2e/testing/jupyter.ts";
import { expect, storeSession } from "../../e2e/testing/test.ts";
import { browserPath } from "../../testing/browser.ts";
import type { Customer } from "../../testing/customer.ts";
import { environment } from "../../testing/environment.ts";

/** What an open notebook asked of the server. */
interface NotebookFigures {
  /** Requests of the environment that were answered, saves among them. */
  answered: number;
  saves: number;
  /** Failed, or answered with a status from 500, or lines that the cell printed and the page lacks. */
  readonly lost: string[];
  longestMs: number;
}

/** A notebook in a browser, with a cell that runs and prints, whose user types and saves on. */
interface NotebookPage {
  /** Ends typing, waits until every request is answered and the cell's output is whole, and returns the figures. */
  finish(): Promise<NotebookFigures>;
  close(): Promise<void>;
}

const lines = 120;
const cell = `import time\nfor n in range(${lines}): print('line', n); time.sleep(0.5)`;

/** Opens the customer's only environment at the app's `url`. */
export async function openNotebookPage(url: string, customer: Customer): Promise<NotebookPage> {
  const browser = await chromium.launch({
    executablePath: environment.chromium ?? browserPath(),
    args: ["--no-sandbox", "--disable-gpu", "--in-process-gpu"],
  });
  const session = await openLab(browser, url, customer);
  await saveFirst(session);
  const { figures, waiting } = countRequests(session);
  await runCell(session, cell, "line 1");
  let isTyping = true;
  const typing = (async () => {
    await session.locator(".jp-CodeCell").last().locator(".cm-content").click();
    while (isTyping) {
      await session.keyboard.type("#");
      await session.keyboard.press("Control+s");
      await session.waitForTimeout(250);
    }
  })();
  // Reported by `finish`; a page that is closed before ends it too.
  typing.catch(() => {});
  return {
    async finish() {
      const last = session.locator(".jp-OutputArea-output", { hasText: `line ${lines - 1}` });
      await expect(last).toBeVisible({ timeout: 180_000 });
      isTyping = false;
      await typing;
      await expect.poll(() => waiting.size, { timeout: 60_000 }).toBe(0);
      const printed = (await last.innerText()).split("\n");
      for (let n = 0; n < lines; n++) if (!printed.includes(`line ${n}`)) figures.lost.push(`line ${n}`);
      return figures;
    },
    close: () => browser.close(),
  };
}

async function openLab(browser: Browser, url: string, customer: Customer): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
  await storeSession(context, url, customer);
  const page = await context.newPage();
  await page.goto(`${url}/environments`);
  const session = await openSession(page, page.getByRole("link", { name: "Open Session" }));
  await newNotebook(session);
  return session;
}

/** JupyterLab asks for a name once. */
async function saveFirst(session: Page): Promise<void> {
  await session.locator(".jp-CodeCell").last().locator(".cm-content").click();
  await session.keyboard.press("Control+s");
  await session.locator(".jp-Dialog .jp-mod-accept").click();
  await expect(session.locator(".jp-Dialog")).toHaveCount(0);
}

function countRequests(session: Page) {
  const figures: NotebookFigures = { answered: 0, saves: 0, lost: [], longestMs: 0 };
  const waiting = new Map<Request, number>();
  const end = (request: Request) => {
    const began = waiting.get(request);
    waiting.delete(request);
    if (began) figures.longestMs = Math.max(figures.longestMs, Math.round(performance.now() - began));
  };
  session.on("request", (request) => waiting.set(request, performance.now()));
  session.on("response", (response) => {
    const request = response.request();
    end(request);
    if (response.status() >= 500) figures.lost.push(`${nameOf(request)}: ${response.status()}`);
    else figures.answered++;
    if (response.ok() && request.method() === "PUT" && request.url().includes("/api/contents/")) figures.saves++;
  });
  session.on("requestfailed", (request) => {
    end(request);
    const reason = request.failure()?.errorText ?? "";
    // The page itself takes back a request that a newer one replaces.
    if (reason !== "net::ERR_ABORTED") figures.lost.push(`${nameOf(request)}: ${reason}`);
  });
  return { figures, waiting };
}

function nameOf(request: Request): string {
  return `${request.method()} ${new URL(request.url()).pathname}`;
}
