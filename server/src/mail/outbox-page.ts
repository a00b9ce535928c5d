import type { FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";
import type { Db } from "../database/database.ts";
import type { OperatorPages } from "../http/operator-pages.ts";
import { escapeHtml } from "../text/escape-html.ts";

interface ShownMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** ISO 8601. */
  readonly at: string;
}

const listLength = 100;

interface OutboxPageDeps {
  readonly db: Db;
  readonly brandName: string;
  readonly local: OperatorPages;
}

export const outboxPath = "/outbox";

/**
 * `GET /outbox`: the newest 100 mails, newest first, when no mail server is set. A mail may hold a sign-in link, so the
 * page needs the operator's key (G110); everybody else gets 404.
 */
export function outboxPage(app: FastifyInstance, { db, brandName, local }: OutboxPageDeps): void {
  app.get(outboxPath, async (request, reply) => {
    if (!local.isOpenTo(request)) throw new AppError("not_found", "There is nothing here, or it is not yours");
    const isProgram = (request.headers.accept ?? "").includes("application/json");
    if (!isProgram && local.exchange(request, reply)) return reply;
    const mails = await readMails(db);
    void reply.header("cache-control", "no-store").header("vary", "accept");
    if (isProgram) return mails;
    return reply.type("text/html; charset=utf-8").send(page(brandName, mails));
  });
}

async function readMails(db: Db): Promise<ShownMail[]> {
  const rows = await db
    .selectFrom("mails")
    .selectAll()
    .where("status", "=", "queued")
    .orderBy("created_at", "desc")
    .limit(listLength)
    .execute();
  return rows.map(({ recipient, subject, body_text, body_html, created_at }) => ({
    to: recipient,
    subject,
    text: body_text,
    html: body_html,
    at: created_at.toISOString(),
  }));
}

const style = `
:root{color-scheme:light dark;--canvas:#fbfcfc;--line:#e3e7e8;--ink:#0f1517;--ink-2:#49555a}
@media (prefers-color-scheme:dark){:root{--canvas:#0b0e10;--line:#20272b;--ink:#e8edee;--ink-2:#a4b0b5}}
body{margin:0;background:var(--canvas);color:var(--ink);font:14px/20px "Geist Variable",Geist,system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
main{max-width:640px;margin:0 auto;padding:40px 16px}
h1{margin:0;font-size:24px;line-height:32px;font-weight:550;letter-spacing:-.025em}
h1+p{margin:8px 0 32px;color:var(--ink-2)}
article{padding:20px 0;border-top:1px solid var(--line)}
h2{margin:0;font-size:14px;line-height:20px;font-weight:550;overflow-wrap:anywhere}
h2+p{margin:0;font-size:12px;line-height:16px;color:var(--ink-2);overflow-wrap:anywhere}
pre{margin:16px 0 0;font:inherit;white-space:pre-wrap;overflow-wrap:anywhere}
a{color:inherit;text-underline-offset:3px}
`;

function page(brandName: string, mails: readonly ShownMail[]): string {
  const title = `Outbox · ${escapeHtml(brandName)}`;
  const list = mails.map(
    ({ to, subject, text, at }) => `<article>
<h2>${escapeHtml(subject)}</h2>
<p>To ${escapeHtml(to)}, <time datetime="${at}">${at.slice(0, 16).replace("T", " ")} UTC</time></p>
<pre>${withLinks(text)}</pre>
</article>`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title><style>${style}</style></head>
<body><main>
<h1>Outbox</h1>
<p>${mails.length === 0 ? "No mail yet." : "Newest first."} No mail server is set, so mails are shown here, to whoever has the address that the start printed. Set SMTP_URL to send them.</p>
${list.join("\n")}
</main></body>
</html>
`;
}

/** In our own text each URL has a line of its own. */
function withLinks(text: string): string {
  return escapeHtml(text).replace(/^https?:\/\/\S+$/gm, (address) => `<a href="${address}">${address}</a>`);
}
