import { escapeHtml } from "../../text/escape-html.ts";

/** The merchant page's scheme; empty follows the system. */
export type Scheme = "light" | "dark" | "";

interface Shell {
  readonly scheme: Scheme;
  readonly title: string;
  readonly script?: "checkout-page.js" | "outcomes-page.js";
  /** HTML. */
  readonly body: string;
}

export const testBanner = `<p class="test">Test mode: no money moves</p>`;

/** HTML around every page of the embedded provider. */
export function pageShell({ scheme, title, script, body }: Shell): string {
  return `<!doctype html>
<html lang="en"${scheme && ` data-scheme="${scheme}"`}>
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${escapeHtml(title)}</title>
    <link rel="stylesheet" href="checkout.css">${script ? `\n    <script type="module" src="${script}"></script>` : ""}
  </head>
  <body>
    <main aria-label="Payment">
    ${body}
    </main>
  </body>
</html>
`;
}
