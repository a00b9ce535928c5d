import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "@playwright/test";
import { expect, onTestFinished, test } from "vitest";
import type { Row } from "./testing/insert-environment.ts";
import { setupGateway, upstreamServer } from "./testing/setup-gateway.ts";

async function browser() {
  const opened = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "",
    args: ["--no-sandbox"],
  });
  onTestFinished(() => opened.close());
  return opened;
}

test("the first visit clears the browser data of the subdomain's former environment and keeps our cookie", async () => {
  const upstream = await upstreamServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>notebook</title>");
  });
  const { environment, codeFor, hostOf, ask, db } = await setupGateway();
  const page = await (await browser()).newPage();
  const visit = async (row: Row) => {
    await expect.poll(() => ask(hostOf(row), "/").then(({ status }) => status)).toBe(401);
    await page.goto(`http://${hostOf(row)}/lab`);
    // As the app does: after all cookies were cleared, the sign-in starts once more.
    for (let n = 0; n < 2 && page.url().includes("/open?"); n++) {
      const code = await codeFor(row, null, new URL(page.url()).searchParams.get("visit") ?? "");
      await page.goto(`http://${hostOf(row)}/_berth/sign-in?code=${code}&path=/lab`);
    }
    expect(page.url()).toBe(`http://${hostOf(row)}/lab`);
  };
  // As strings, because the server's code has no DOM types.
  const left = () => page.evaluate("[localStorage.getItem('left'), document.cookie]");
  const leave = () => page.evaluate("localStorage.setItem('left', 'behind'); document.cookie = 'left=behind'");
  const former = await environment({ subdomain: "handed-on", user_id: "former", port: upstream.port });
  await visit(former);
  await leave();
  await visit(former);
  expect(await left()).toEqual(["behind", "left=behind"]);
  await db
    .updateTable("environments")
    .set({ status: "terminated", desired: "terminated", terminated_at: new Date() })
    .where("id", "=", former.id)
    .execute();
  const next = await environment({ subdomain: "handed-on", user_id: "next", port: upstream.port });
  // Before the notification, the former owner's cookie still opens the former environment.
  const headers = { authorization: `token ${next.secret}` };
  await expect.poll(() => ask(hostOf(next), "/", { headers }).then(({ status }) => status)).toBe(200);
  await visit(next);
  expect(await left()).toEqual([null, ""]);
  expect((await page.reload())?.status()).toBe(200);
});

test("G301 no service worker of an environment's page covers the address: sign-ins, share links and visits stay unseen", async () => {
  const worker = `self.addEventListener("fetch", (event) => event.respondWith(
    new Response("<!doctype html><title>worker</title>", { headers: { "content-type": "text/html" } })))`;
  const upstream = await upstreamServer((request, response) => {
    const isScript = request.url?.endsWith(".js") ?? false;
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.setHeader("service-worker-allowed", "/");
    response.end(isScript ? worker : "<!doctype html><title>notebook</title>");
  });
  const { environment, signedIn, hostOf } = await setupGateway();
  const row = await environment({ port: upstream.port });
  const origin = `http://${hostOf(row)}`;
  const page = await (await browser()).newPage();
  await page.context().addCookies([{ name: "env", value: (await signedIn(row)).slice(4), url: origin }]);
  await page.goto(`${origin}/lab`);
  const register = (script: string, scope?: string) =>
    page.evaluate(`navigator.serviceWorker.register(${JSON.stringify(script)}, ${JSON.stringify({ scope })})
      .then((found) => navigator.serviceWorker.getRegistration(found.scope)).then(() => "registered", () => "refused")`);
  expect(await register("/wide.js")).toBe("refused");
  expect(await register("/_berth/wide.js")).toBe("refused");
  for (const scope of ["/", "/_berth/", "/lab"]) expect(await register("/files/wide.js", scope), scope).toBe("refused");
  // A worker of a folder of its own, as a user's own web application has one, goes on working.
  expect(await register("/files/wide.js")).toBe("registered");
  const titleAt = async (path: string) => {
    await page.goto(`${origin}${path}`);
    return page.title();
  };
  await expect.poll(() => titleAt("/files/app")).toBe("worker");
  expect(await titleAt("/lab")).toBe("notebook");
  expect(await titleAt("/_berth/share?key=secret")).not.toBe("worker");
});

test("every page is accessible on a phone and a wide screen, in both colour schemes", async () => {
  const { environment, signedIn, hostOf } = await setupGateway();
  const rows = [
    await environment({ status: "pending", stage: "image" }),
    await environment({ status: "paused", desired: "paused", expires_at: new Date(Date.now() + 1e8) }),
    await environment({ status: "stopped", desired: "stopped", banked: 30_000 }),
    await environment({ desired: "terminated" }),
    await environment(),
  ];
  const cookies = await Promise.all(rows.map((row) => signedIn(row)));
  const opened = await browser();
  for (const [width, colorScheme] of [
    [390, "dark"],
    [1440, "light"],
  ] as const) {
    const context = await opened.newContext({ viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce" });
    const page = await context.newPage();
    for (const [index, row] of rows.entries()) {
      await context.addCookies([{ name: "env", value: cookies[index]?.slice(4) ?? "", url: `http://${hostOf(row)}` }]);
      await page.goto(`http://${hostOf(row)}/lab`);
      // The starting page would reload during the check.
      await page.evaluate("window.stop()");
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    }
    await context.close();
  }
}, 60_000);
