import { escapeHtml } from "../../text/escape-html.ts";
import { style } from "./page-style.ts";
import type { Glyph, Refusal, Step } from "./refusals.ts";

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

export type Page = Pick<Refusal, "title" | "text" | "action" | "badge" | "form" | "other" | "steps">;

const stepGlyphs: Readonly<Record<Step["state"], string>> = {
  done: '<path d="m3 7.5 2.7 2.7L11 4.5" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round"/>',
  doing: glyphs.pending,
  waiting: '<circle cx="7" cy="7" r="2" fill="currentColor" opacity=".5"/>',
};

/** Renders HTML. */
export function renderPage(page: Page, host: string): string {
  const { badge, action, form, other, steps = [] } = page;
  const label = escapeHtml(action.label);
  const main = form
    ? `<form method="post" action="${escapeHtml(form.path)}"><input type="hidden" name="${form.name}" value="${escapeHtml(form.value)}"><button>${label}</button></form>`
    : `<a class="act" href="${escapeHtml(action.href)}">${label}</a>`;
  const second = other ? `<a class="other" href="${escapeHtml(other.href)}">${escapeHtml(other.label)}</a>` : "";
  const items = steps.map(
    ({ text, state }) =>
      `<li class="${state}"${state === "doing" ? ' aria-current="step"' : ""}>${svg(stepGlyphs[state])}${escapeHtml(text)}</li>`,
  );
  const list = items.length > 0 ? `<ol>${items.join("")}</ol>` : "";
  const status = badge
    ? `<p class="status ${badge.glyph}">${svg(glyphs[badge.glyph])}${escapeHtml(badge.word)}</p>`
    : "";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${escapeHtml(page.title)}</title><style>${style}</style></head>
<body><main><div>
<p class="host"><svg width="20" height="20" viewBox="0 0 24 24" fill="none" aria-hidden="true"><path d="M4 3v13a5 5 0 0 0 5 5h6a5 5 0 0 0 5-5V3" stroke="currentColor" stroke-width="2.25" stroke-linecap="square"/><rect class="block" x="9" y="5" width="6" height="11" rx="1.25"/></svg><span>${escapeHtml(host)}</span></p>
${status}<h1>${escapeHtml(page.title)}</h1><p>${escapeHtml(page.text)}</p>${list}<div class="acts">${main}${second}</div>
</div></main></body></html>
`;
}

function svg(content: string): string {
  return `<svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">${content}</svg>`;
}
