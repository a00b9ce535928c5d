import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { readDocuments } from "./documents.ts";
import { guardBrowsers } from "./guard-browsers.ts";
import { servePages } from "./serve-pages.ts";

const html = { accept: "text/html,*/*;q=0.8" };
const page = (name: string) =>
  `<title>${name} · {{BRAND_NAME}}</title><link href="{{APP_URL}}/${name}"><p>{{CONTACT_EMAIL}} {{RETENTION_DAYS}} {{GPU_COUNTS}} x.{{ENVIRONMENT_HOST}} {{x}}</p><meta content="{{SIGN_IN_PROVIDERS}}"><script>1 < 2;\n</script>`;

async function setup({ name = "Berth" } = {}) {
  const dist = mkdtempSync(join(tmpdir(), "berth-dist-"));
  mkdirSync(join(dist, "assets"));
  mkdirSync(join(dist, "docs", "use"), { recursive: true });
  for (const file of ["index", "shell", "refund", "status", "docs", "docs/use/paying"])
    writeFileSync(join(dist, `${file}.html`), page(file));
  writeFileSync(join(dist, "docs", "search-index.json"), "{}");
  writeFileSync(join(dist, "assets", "app-1.js"), "1;");
  writeFileSync(join(dist, "assets", "app-1.js.br"), "br");
  const app = Fastify();
  await app.register(rateLimit, { global: false });
  const appUrl = "https://gpu.example";
  const settings = {
    name,
    email: "a@gpu.example",
    retentionDays: 45,
    environmentHost: "env.example:3000",
    appUrl,
    limits: { GPU_COUNTS: "1 or 2" },
    catalogue: undefined,
    signInProviders: [{ key: "1", name: '"><b>Uni' }],
  };
  const documents = await readDocuments(dist, settings);
  guardBrowsers(app, {
    tls: true,
    razorpay: false,
    scripts: [...documents.values()].flatMap(({ scripts }) => scripts),
  });
  await servePages(app, { dist, documents, appUrl });
  app.get("/status", { config: { auth: "none" } }, async () => ({ status: "success" }));
  app.get("/environments", { config: { auth: "bearer" } }, async () => ({ status: "success" }));
  onTestFinished(async () => {
    await app.close();
    rmSync(dist, { recursive: true });
  });
  return app;
}

test("every prerendered page is served at its path, filled with the operator's settings", async () => {
  const app = await setup();
  for (const [path, name] of [
    ["/", "index"],
    ["/refund", "refund"],
  ] as const) {
    const { statusCode, headers, body } = await app.inject({ url: path, headers: html });
    expect([statusCode, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(body).toBe(
      `<title>${name} · Berth</title><link href="https://gpu.example/${name}"><p>a@gpu.example 45 1 or 2 x.env.example:3000 {{x}}</p><meta content="[{&#34;key&#34;:&#34;1&#34;,&#34;name&#34;:&#34;\\&#34;&#62;&#60;b&#62;Uni&#34;}]"><script>1 < 2;\n</script>`,
    );
  }
});

test("pages in folders are served like the others, without the ending, and their files (G140)", async () => {
  const app = await setup();
  for (const [path, name] of [
    ["/docs", "docs"],
    ["/docs/use/paying", "docs/use/paying"],
  ] as const) {
    const { statusCode, body } = await app.inject({ url: path, headers: html });
    expect([statusCode, body.includes(`<title>${name} · Berth</title>`)]).toEqual([200, true]);
    const { statusCode: moved, headers } = await app.inject({ url: `${path}/`, headers: html });
    expect([moved, headers.location]).toEqual([308, path]);
  }
  expect((await app.inject("/docs/search-index.json")).json()).toEqual({});
  for (const url of ["/docs/use/paying.html", "/docs/use", "/docs/nowhere"])
    expect((await app.inject({ url, headers: html })).statusCode, url).toBe(404);
});

test("every other address gets the shell for a navigation and the API or a 404 for the rest", async () => {
  const app = await setup();
  const titleOf = async (url: string) => /<title>\w+/.exec((await app.inject({ url, headers: html })).body)?.[0];
  for (const url of ["/dashboard", "/environments", "/refund/", "/nowhere/deep"])
    expect(await titleOf(url), url).toBe("<title>shell");
  const bearer = { ...html, authorization: "Bearer x" };
  expect((await app.inject({ url: "/environments", headers: bearer })).json()).toEqual({ status: "success" });
  for (const url of ["/nowhere", "/refund.html", "/shell.html", "/index.html"])
    expect((await app.inject({ url, headers: { accept: "*/*" } })).statusCode, url).toBe(404);
});

test("an unknown path is a 404 for a navigation, with the app's shell (G117)", async () => {
  const app = await setup();
  const statusOf = async (url: string, method: "GET" | "HEAD" = "GET") =>
    (await app.inject({ method, url, headers: html })).statusCode;
  for (const url of [
    "/dashboard",
    "/Dashboard/",
    "/environments/abc?tab=logs",
    "/billing/orders/o1",
    "/refund/",
    "/open",
  ])
    expect(await statusOf(url), url).toBe(200);
  for (const url of ["/nowhere", "/dashboard/deep", "/environments/a/b", "/refund.html", "/notifications"]) {
    expect([await statusOf(url), await statusOf(url, "HEAD")], url).toEqual([404, 404]);
    expect((await app.inject({ url, headers: html })).body).toContain("<title>shell");
  }
});

test("a public page may share its path with a call: browsers get the page, programs the call (G93)", async () => {
  const app = await setup();
  const browser = await app.inject({ url: "/status", headers: html });
  expect([browser.statusCode, browser.body]).toEqual([200, expect.stringContaining("<title>status")]);
  for (const headers of [{ accept: "application/json" }, {}, { ...html, authorization: "Bearer x" }])
    expect((await app.inject({ url: "/status", headers })).json()).toEqual({ status: "success" });
});

test("the operator's name is escaped", async () => {
  const app = await setup({ name: `</title><script>alert("&'$1")</script>` });
  const { body } = await app.inject({ url: "/refund", headers: html });
  expect(body).not.toContain("<script>alert");
  expect(body).toContain("&#60;script&#62;alert(&#34;&#38;&#39;$1&#34;)");
});

test("a page is compressed by Accept-Encoding, and revalidated by its ETag", async () => {
  const app = await setup();
  const get = (headers: Record<string, string>) => app.inject({ url: "/refund", headers: { ...html, ...headers } });
  const plain = await get({});
  expect(plain.headers["content-encoding"]).toBeUndefined();
  const br = await get({ "accept-encoding": "gzip, deflate, br" });
  expect(br.headers["content-encoding"]).toBe("br");
  expect(brotliDecompressSync(br.rawPayload).toString()).toBe(plain.body);
  const zipped = await get({ "accept-encoding": "br;q=0, gzip;q=0.5" });
  expect(zipped.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(plain.body);
  expect(br.headers.vary).toContain("accept-encoding");

  const again = await get({ "if-none-match": String(br.headers.etag) });
  expect([again.statusCode, again.body]).toEqual([304, ""]);
  const head = await app.inject({ method: "HEAD", url: "/refund", headers: html });
  expect([head.statusCode, head.body]).toEqual([200, ""]);
});

test("robots.txt and the sitemap list the public pages at the operator's URL", async () => {
  const app = await setup();
  const robots = await app.inject("/robots.txt");
  expect(robots.headers["content-type"]).toContain("text/plain");
  expect(robots.body.split("\n")).toEqual(
    expect.arrayContaining(["User-agent: *", "Disallow: /dashboard", "Sitemap: https://gpu.example/sitemap.xml"]),
  );
  const { body } = await app.inject("/sitemap.xml");
  expect([...body.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, address]) => address).sort()).toEqual([
    "https://gpu.example/",
    "https://gpu.example/docs",
    "https://gpu.example/docs/use/paying",
    "https://gpu.example/refund",
    "https://gpu.example/status",
  ]);
  expect(body).not.toContain("shell");
});

test("only hashed assets are immutable", async () => {
  const app = await setup();
  expect((await app.inject("/assets/app-1.js")).headers["cache-control"]).toContain("immutable");
  expect((await app.inject({ url: "/refund", headers: html })).headers["cache-control"]).toBe("no-cache");
});

test("files of the build are compressed by Accept-Encoding, and nothing else is below their path", async () => {
  const app = await setup();
  const get = (url: string, headers = {}) => app.inject({ url, headers });
  expect((await get("/assets/app-1.js")).body).toBe("1;");
  const br = await get("/assets/app-1.js", { "accept-encoding": "br" });
  expect([br.body, br.headers["content-encoding"]]).toEqual(["br", "br"]);
  for (const url of ["app-1.js.br", "app-2.js", "", "..%2findex.html", "%2e%2e/index.html", "a/b"]) {
    const answers = [await get(`/assets/${url}`), await get(`/assets/${url}`, { "accept-encoding": "br" })];
    expect(
      answers.map(({ statusCode }) => statusCode),
      url,
    ).toEqual([404, 404]);
  }
  const wrong = await get("/assets/app-2.js", html);
  expect([wrong.statusCode, wrong.body]).toEqual([404, expect.stringContaining("<title>shell")]);
});

test("the CSP allows only the inline scripts of the pages, by hash", async () => {
  const app = await setup();
  const { headers } = await app.inject({ url: "/", headers: html });
  const hash = createHash("sha256").update("1 < 2;\n").digest("base64");
  expect(headers["content-security-policy"]).toMatch(`script-src 'self' 'sha256-${hash}'`);
});
