import { escapeHtml } from "../../text/escape-html.ts";
import { style } from "./page-style.ts";
import type { Glyph, Refusal } from "./refusals.ts";

const glyphs: Readonly<Record<Glyph, string>> = {
  pending:
    '<g class="turning" fill="none" stroke="currentColor" stroke-width="1.75"><circle cx="7" cy="7" r="5" opacity=".28"/><path d="M7 2a5 5 0 0 1 5 5" stroke-linecap="round"/></g>',
  paused: '<path d="M4 2.5h2v9H4zM8 2.5h2v9H8z" fill="currentColor"/>',
  stopped: '<rect x="3" y="3" width="8" height="8" rx="1" fill="none" stroke="currentColor" stroke-width="1.75"/>',
  terminated: '<path d="m3.5 3.5 7 7m0-7-7 7" stroke="currentColor" stroke-width="1.75" stroke-linecap="round"/>',
  failed: '<path d="m3.5 3.5 7 7m0-7-7 7" stroke="currentColor" stroke-width="1.75" stroke-linecap="round"/>',
  unknown:
    '<circle cx="7" cy="7" r="5" fill="none" stroke="currentColor" stroke-width="1.75" stroke-dasharray="2.6 2.6"/>',
};

export type Page = Pick<Refusal, "title" | "text" | "action" | "badge">;

/** Renders HTML. With a `form`, the action is a button that posts the key. */
export function renderPage(page: Page, host: string, form?: { readonly path: string; readonly key: string }): string {
  const { badge, action } = page;
  const label = escapeHtml(action.label);
  const act = form
    ? `<form method="post" action="${escapeHtml(form.path)}"><input type="hidden" name="key" value="${escapeHtml(form.key)}"><button>${label}</button></form>`
    : `<a href="${escapeHtml(action.href)}">${label}</a>`;
  const status = badge
    ? `<p class="status ${badge.glyph}"><svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">${glyphs[badge.glyph]}</svg>${escapeHtml(badge.word)}</p>`
    : "";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${escapeHtml(page.title)}</title><style>${style}</style></head>
<body><main><div>
<p class="host"><svg width="20" height="20" viewBox="0 0 24 24" fill="none" aria-hidden="true"><path d="M4 3v13a5 5 0 0 0 5 5h6a5 5 0 0 0 5-5V3" stroke="currentColor" stroke-width="2.25" stroke-linecap="square"/><rect class="block" x="9" y="5" width="6" height="11" rx="1.25"/></svg><span>${escapeHtml(host)}</span></p>
${status}<h1>${escapeHtml(page.title)}</h1><p>${escapeHtml(page.text)}</p>${act}
</div></main></body></html>
`;
}
