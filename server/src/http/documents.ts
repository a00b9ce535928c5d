import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Catalogue } from "@berth/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import { onFirstCall } from "../async/on-first-call.ts";
import { escapeHtml } from "../text/escape-html.ts";
import { type DrawnPages, drawPages } from "./draw-pages.ts";

/** Values of the placeholders in the built pages, set by the operator (web/src/api/page-settings.ts). */
export interface PageSettings {
  readonly name: string;
  readonly email: string;
  readonly retentionDays: number;
  /** Host, and port if any, after a subdomain's dot. */
  readonly environmentHost: string;
  /** Without a trailing slash. */
  readonly appUrl: string;
  /** Figures that the documentation names, by placeholder (named-limits.ts). */
  readonly limits: Readonly<Record<string, string>>;
  /** Undefined: the built-in one, with which the pages were built. */
  readonly catalogue: Catalogue | undefined;
  /** Buttons of the sign-in page (G416). */
  readonly signInProviders: readonly { readonly key: string; readonly name: string }[];
}

type Encoding = "br" | "gzip" | "identity";

/** A page as it is sent; filled in and compressed on its first request. */
export interface Document {
  readonly body: (encoding: Encoding) => Promise<Buffer>;
  readonly etag: string;
  /** Hashes of the inline scripts, for a script-src directive. */
  readonly scripts: readonly string[];
}

export type Documents = ReadonlyMap<string, Document>;

/** All built pages by path without ".html" ("docs/use/paying"), with these settings; empty without a build. */
export async function readDocuments(dist: string, settings: PageSettings): Promise<Map<string, Document>> {
  if (!existsSync(dist)) return new Map();
  const files = (await readdir(dist, { recursive: true })).filter((file) => file.endsWith(".html"));
  const built = await Promise.all(
    files.map(async (file) => ({
      name: file.slice(0, -".html".length).replaceAll("\\", "/"),
      html: await readFile(join(dist, file), "utf8"),
    })),
  );
  const pages = settings.catalogue ? await redrawn(dist, settings.catalogue, built) : built;
  return new Map(pages.map(({ name, html }) => [name, documentOf(html, settings)]));
}

interface Page {
  /** Path in the build without ".html". The shell is no public page. */
  readonly name: string;
  readonly html: string;
}

export function pathOf(name: string): string {
  return name === "index" ? "/" : `/${name}`;
}

/** The documentation names nothing of the catalogue. */
function isDocs(name: string): boolean {
  return name === "docs" || name.startsWith("docs/");
}

async function redrawn(dist: string, catalogue: Catalogue, pages: readonly Page[]): Promise<readonly Page[]> {
  const paths = pages.flatMap(({ name }) => (name === "shell" || isDocs(name) ? [] : pathOf(name)));
  const drawn = await drawPages(dist, catalogue, paths);
  const shell = pages.find(({ name }) => name === "shell")?.html ?? "";
  const before = /name="description"\s+content="([^"]+)"/.exec(shell)?.[1];
  return pages.map((page) => ({ name: page.name, html: withDrawn(page, before, drawn) }));
}

function withDrawn({ name, html }: Page, before: string | undefined, { description, markup }: DrawnPages): string {
  const described = before ? html.replaceAll(before, () => escapeHtml(description)) : html;
  const own = markup[pathOf(name)];
  if (own === undefined) return described;
  return described.replace(/(<div id="root">).*(<\/div>\s*<\/body>)/s, (_, start, end) => `${start}${own}${end}`);
}

/** Sends a page, revalidated by its ETag. */
export async function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Document,
): Promise<FastifyReply> {
  const { etag } = document;
  reply.headers({ "cache-control": "no-cache", etag, vary: "accept-encoding" });
  if (request.headers["if-none-match"]?.includes(etag)) return reply.code(304).send();
  const encoding = encodingOf(request.headers["accept-encoding"]);
  const body = await document.body(encoding);
  if (encoding !== "identity") reply.header("content-encoding", encoding);
  return reply.type("text/html; charset=utf-8").send(body);
}

function fill(html: string, settings: PageSettings): string {
  const { name, email, retentionDays, environmentHost, appUrl, limits, catalogue, signInProviders } = settings;
  const values: Record<string, string> = {
    ...limits,
    BRAND_NAME: name,
    CONTACT_EMAIL: email,
    RETENTION_DAYS: String(retentionDays),
    ENVIRONMENT_HOST: environmentHost,
    APP_URL: appUrl,
    SIGN_IN_PROVIDERS: JSON.stringify(signInProviders),
    CATALOGUE: catalogue ? JSON.stringify(catalogue) : "",
  };
  return html.replace(/\{\{([A-Z_]+)\}\}/g, (mark, key: string) => escapeHtml(values[key] ?? mark));
}

/** Quality 6: a tenth of the time of 9 (2 ms for 106 kB), and 1 % more bytes. The first request waits for it. */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

function documentOf(html: string, settings: PageSettings): Document {
  const identity = onFirstCall(() => Buffer.from(fill(html, settings)));
  const bodies = {
    identity: async () => identity(),
    br: onFirstCall(() => promisify(brotliCompress)(identity(), brotli)),
    gzip: onFirstCall(() => promisify(gzip)(identity())),
  };
  const etag = onFirstCall(() => `W/"${sha256(identity()).toString("base64url").slice(0, 22)}"`);
  return {
    body: (encoding) => bodies[encoding](),
    get etag() {
      return etag();
    },
    scripts: Array.from(
      html.matchAll(/<script>(.*?)<\/script>/gs),
      ([, script = ""]) => `'sha256-${sha256(script).toString("base64")}'`,
    ),
  };
}

const sha256 = (content: string | Buffer) => hash("sha256", content, "buffer");

function encodingOf(accepted = ""): Encoding {
  const offers = accepted.split(",").map((offer) => offer.trim().toLowerCase());
  const takes = (name: string) =>
    offers.some((offer) => offer === name || new RegExp(`^${name};q=(?!0(\\.0*)?$)`).test(offer));
  if (takes("br")) return "br";
  return takes("gzip") ? "gzip" : "identity";
}
