import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { FastifyInstance, FastifyReply } from "fastify";
import * as z from "zod";
import { onFirstCall } from "../../async/on-first-call.ts";
import type { Db } from "../../database/database.ts";
import type { OperatorPages } from "../../http/operator-pages.ts";
import { charge, chargeBody, type MerchantAccount, statusOf } from "./charge.ts";
import { checkoutPage, unknownOrderPage } from "./checkout-page.ts";
import { outcomeSentence } from "./outcomes.ts";
import { dialectIdText, readInput } from "./read-input.ts";

export const pageQuery = z.object({
  order_id: dialectIdText.catch(""),
  name: z.string().max(120).catch(""),
  description: z.string().max(255).catch(""),
  scheme: z.enum(["light", "dark", ""]).catch(""),
});

const statusQuery = z.object({ id: dialectIdText, order_id: dialectIdText, key_id: z.string().max(64) });

/** Content security policy: its own files only, framed by this origin only. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** A limit of its own: 25 dialogs a minute would use up that of the other requests of a network, sign-ins among them. */
const ofDialog = { config: { limit: "dialog" } } as const;

/** The public routes: the dialog's files and the payment call, usable by scripts too (G88). */
export function checkoutRoutes(app: FastifyInstance, db: Db, account: MerchantAccount, local: OperatorPages): void {
  app.post("/payments/create/checkout", ofDialog, async (request) =>
    charge(db, account, readInput(chargeBody, request.body)),
  );

  app.get("/payments/:id/status", ofDialog, async (request) =>
    statusOf(db, account, readInput(statusQuery, { ...Object(request.query), ...Object(request.params) })),
  );

  app.get("/checkout", ofDialog, async (request, reply) => {
    const { order_id: id, name, description, scheme } = readInput(pageQuery, request.query);
    const order = await db.selectFrom("embedded_gateway_orders").selectAll().where("id", "=", id).executeTakeFirst();
    sendPage(reply.code(order ? 200 : 404));
    if (!order) return unknownOrderPage(scheme);
    const query = new URLSearchParams({ order_id: id, name, description, scheme });
    const outcomesUrl = local.isOpenTo(request) ? `test?${query}` : undefined;
    const next = outcomeSentence(order.outcome);
    return checkoutPage({ order, keyId: account.keyId, name, description, scheme, next, outcomesUrl });
  });

  for (const [name, type, ...more] of [
    ["checkout.js", "text/javascript; charset=utf-8"],
    ["checkout-page.js", "text/javascript; charset=utf-8"],
    ["outcomes-page.js", "text/javascript; charset=utf-8"],
    ["checkout.css", "text/css; charset=utf-8", "fields.css"],
  ] as const) {
    const read = (part: string) => readFileSync(new URL(`browser/${part}`, import.meta.url));
    const content = onFirstCall(() => Buffer.concat([name, ...more].map(read)));
    app.get(`/${name}`, isFile, async (_, reply) => file(reply, type, content()));
  }
  const typeface = onFirstCall(readTypeface);
  app.get("/geist.woff2", isFile, async (_, reply) => {
    const content = typeface();
    return content ? file(reply, "font/woff2", content) : reply.callNotFound();
  });
}

const isFile = { config: { rateLimit: false } } as const;

/** Sets the headers of a page that only this origin may frame. */
export function sendPage(reply: FastifyReply): void {
  reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", policy)
    .header("x-frame-options", "SAMEORIGIN")
    .header("cache-control", "no-store");
}

function file(reply: FastifyReply, type: string, content: Buffer): Buffer {
  reply.type(type).header("cache-control", "public, max-age=300").header("x-content-type-options", "nosniff");
  return content;
}

/** The app's typeface if installed; otherwise the stylesheet falls back to a system font. */
function readTypeface(): Buffer | undefined {
  try {
    const path = "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2";
    return readFileSync(createRequire(import.meta.url).resolve(path));
  } catch {
    return undefined;
  }
}
