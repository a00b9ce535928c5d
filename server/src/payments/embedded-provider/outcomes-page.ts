import { escapeHtml } from "../../text/escape-html.ts";
import { type Outcome, outcomes } from "./outcomes.ts";
import { pageShell, type Scheme, testBanner } from "./page-shell.ts";

interface Page {
  readonly orderId: string;
  readonly chosen: string | null;
  /** Query of the dialog's page, for the link back. */
  readonly query: string;
  readonly scheme: Scheme;
}

/** The page for choosing the outcome of an order; it must not look like a real provider's page. */
export function outcomesPage({ orderId, chosen, query, scheme }: Page): string {
  const groups = Object.entries(outcomes).map(
    ([legend, list]) => `<fieldset><legend>${legend}</legend>
        ${list.map((outcome) => choice(outcome, chosen ?? "success")).join("\n        ")}</fieldset>`,
  );
  return pageShell({
    scheme,
    title: "What happens next",
    script: "outcomes-page.js",
    body: `<form class="dialog" aria-label="What happens next" novalidate data-order="${escapeHtml(orderId)}">
      ${testBanner}
      <h1 class="question">What happens next</h1>
      <p class="help">For order <span class="mono">${escapeHtml(orderId)}</span> only. This page is the operator's: customers do not see it.</p>
      <p class="failed" role="alert" hidden></p>
      ${groups.join("\n      ")}
      <button type="submit" class="pay">Use it</button>
      <p class="help back"><a href="checkout?${escapeHtml(query)}">Back to the payment</a></p>
    </form>`,
  });
}

/** Target of the URL that the server prints at its start; from then on this browser's dialog offers the choice. */
export function welcomePage(scheme: Scheme): string {
  return pageShell({
    scheme,
    title: "What happens next",
    body: `<div class="dialog">
      ${testBanner}
      <h1 class="question">What happens next</h1>
      <p class="help back">From now on the payment dialog of this browser has a link that chooses what happens to its order.</p>
    </div>`,
  });
}

function choice({ name, label }: Outcome, chosen: string): string {
  const checked = name === chosen ? " checked" : "";
  return `<label class="choice"><input type="radio" name="outcome" value="${name}"${checked}> ${escapeHtml(label)}</label>`;
}
