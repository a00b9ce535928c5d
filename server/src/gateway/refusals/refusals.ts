import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { escapeHtml } from "../../text/escape-html.ts";
import { formatDuration } from "../../text/format-duration.ts";
import type { Availability } from "../target/availability.ts";
import { style } from "./page-style.ts";

type Glyph = "pending" | "paused" | "stopped" | "terminated" | "unknown" | "failed";

/** One refusal, as a page for people and as JSON for everything else. */
export interface Refusal {
  readonly status: number;
  /** For programs; stable. */
  readonly code: string;
  readonly title: string;
  /** One sentence: what it means, with the figure. */
  readonly text: string;
  readonly badge?: { readonly glyph: Glyph; readonly word: string };
  readonly action: { readonly label: string; readonly href: string };
  readonly retryAfterSeconds?: number;
  /** The page asks again by itself after this. */
  readonly refreshSeconds?: number;
}

const stageWords: Readonly<Record<string, string>> = {
  paid: "payment received",
  placed: "preparing your GPUs",
  image: "pulling image",
  created: "starting container",
  started: "starting JupyterLab",
  answering: "starting JupyterLab",
  ready: "starting JupyterLab",
};

/** What a stopped one's page says before its time. */
const stoppedBecause: Readonly<Record<NonNullable<EnvironmentRoute["stopReason"]>, string>> = {
  idle: "Your files are safe and ",
  silent:
    "JupyterLab did not answer for ten minutes, though its container ran. On its page you can start it without your settings. Your files are safe and ",
  no_home:
    "Its files are not there at the moment, so it is not started. Whoever runs this service has been told. None of its time is lost: ",
};

function stoppedText(route: EnvironmentRoute, nowMs: number): string {
  const time =
    route.bankedSeconds > 0
      ? `${formatDuration(route.bankedSeconds)} ${route.bankedSeconds < 3600 ? "is" : "are"} banked.`
      : `your GPUs are held, and the clock is running${left(route, nowMs)}.`;
  return `${stoppedBecause[route.stopReason ?? "idle"]}${time}`;
}

/**
 * What an environment's owner meets when it is not open. `path` is what was asked for; `silentSinceMs` when it first
 * did not answer.
 */
export function availabilityRefusal(
  standing: Exclude<Availability, "open">,
  route: EnvironmentRoute,
  about: {
    readonly appUrl: string;
    readonly path: string;
    readonly nowMs: number;
    readonly silentSinceMs?: number | undefined;
  },
): Refusal {
  const manage = `${about.appUrl}/environments/${route.id}`;
  switch (standing) {
    case "starting": {
      const doing = stageWords[route.stage ?? ""];
      return {
        status: 503,
        code: "starting",
        title: "This environment is starting",
        text: `The page opens by itself as soon as JupyterLab answers${route.expiresAt || route.bankedSeconds > 0 ? "" : "; the clock starts then, not before"}.`,
        badge: { glyph: "pending", word: doing ? `Starting: ${doing}` : "Starting" },
        action: { label: "Show progress", href: manage },
        retryAfterSeconds: 1,
        refreshSeconds: 1,
      };
    }
    case "paused":
      return {
        status: 503,
        code: "paused",
        title: "This environment is paused",
        text: `Its memory and GPUs are kept, and the clock is running${left(route, about.nowMs)}.`,
        badge: { glyph: "paused", word: "Paused" },
        action: { label: "Resume", href: manage },
      };
    case "stopped":
      return {
        status: 503,
        code: "stopped",
        title: "This environment is stopped",
        text: stoppedText(route, about.nowMs),
        badge: { glyph: "stopped", word: "Stopped" },
        action: { label: "Restart", href: manage },
      };
    case "ended":
      return {
        status: 410,
        code: "ended",
        title: "This environment has ended",
        text: route.filesUntil
          ? `Your files are kept until ${day(route.filesUntil)} and come back when you launch under this name again.`
          : "Your files are kept and come back when you launch under this name again.",
        badge: { glyph: "terminated", word: "Terminated" },
        action: { label: "Launch again", href: `${about.appUrl}/environments/create` },
      };
    case "not_answering":
      return {
        status: 502,
        code: "not_answering",
        title: "This environment does not answer",
        text: `JupyterLab has given no answer since ${time(about.silentSinceMs ?? about.nowMs)}; your files are not affected.`,
        badge: { glyph: "failed", word: "Not answering" },
        action: { label: "Try again", href: about.path },
        retryAfterSeconds: 5,
      };
  }
}

/** The same words whether the name is free or another's (G90). */
export function missingRefusal(appUrl: string): Refusal {
  return {
    status: 404,
    code: "not_found",
    title: "There is no environment at this address",
    text: "The name is free, or the environment is not yours to open.",
    action: { label: "Go to dashboard", href: `${appUrl}/dashboard` },
  };
}

export function wrongHostRefusal(appUrl: string): Refusal {
  return {
    status: 421,
    code: "wrong_host",
    title: "Nothing is served under this name",
    text: "The address leads here, but it belongs neither to the app nor to an environment.",
    action: { label: "Go to dashboard", href: `${appUrl}/dashboard` },
  };
}

export function spentCodeRefusal(appUrl: string, subdomain: string): Refusal {
  return {
    status: 400,
    code: "sign_in_code_spent",
    title: "This sign-in link no longer works",
    text: "It works once and for 30 seconds.",
    action: { label: "Open the environment", href: `${appUrl}/open?environment=${encodeURIComponent(subdomain)}` },
  };
}

export function endedShareRefusal(appUrl: string): Refusal {
  return {
    status: 404,
    code: "share_ended",
    title: "This link no longer works",
    text: "It has ended, or it was taken back. Ask whoever sent it for a new one.",
    action: { label: "Go to the start page", href: appUrl },
  };
}

type Asked = Pick<Refusal, "title" | "text" | "action">;

/** Asked before a share link lets somebody in. */
export function shareConfirmation(owner: string): Asked {
  return {
    title: `${owner} shares this environment with you`,
    text: "You can run code in it, and read and change its files, until the link ends. Its owner sees that somebody came in.",
    action: { label: "Open JupyterLab", href: "" },
  };
}

const guestTexts: Readonly<Record<Exclude<Availability, "open">, readonly [title: string, text: string]>> = {
  starting: ["This environment is starting", "The page opens by itself as soon as JupyterLab answers."],
  paused: ["This environment is paused", "It goes on when its owner resumes it."],
  stopped: ["This environment is stopped", "It can be opened again when its owner restarts it."],
  ended: ["This environment has ended", "Ask whoever shared it with you."],
  not_answering: ["This environment does not answer", "Its owner can look into it."],
};

/** What somebody with a share link meets when it is not open: the state, and nothing of the owner's affairs. */
export function guestRefusal(standing: Exclude<Availability, "open">, path: string): Refusal {
  const [title, text] = guestTexts[standing];
  const status = standing === "ended" ? 410 : standing === "not_answering" ? 502 : 503;
  return {
    ...plainRefusal(status, standing, title, text, path),
    ...(standing === "starting" && { retryAfterSeconds: 1, refreshSeconds: 1 }),
  };
}

export function unavailableRefusal(path: string): Refusal {
  const text = "Environments that are open stay open.";
  return {
    ...plainRefusal(503, "unavailable", "Signing in does not work right now", text, path),
    retryAfterSeconds: 2,
  };
}

/** Whatever else is refused, in the same frame. */
export function plainRefusal(status: number, code: string, title: string, text: string, href: string): Refusal {
  return { status, code, title, text, action: { label: "Try again", href } };
}

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

/** With a `form`, the action is its button and sends the key there. */
export function renderPage(
  page: Asked & Pick<Refusal, "badge">,
  host: string,
  form?: { readonly path: string; readonly key: string },
): string {
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

function left({ expiresAt }: EnvironmentRoute, nowMs: number): string {
  return expiresAt ? `: ${formatDuration((expiresAt.getTime() - nowMs) / 1000)} left` : "";
}

function day(date: Date): string {
  return date.toLocaleDateString("en-US", { month: "short", day: "numeric", year: "numeric", timeZone: "UTC" });
}

function time(ms: number): string {
  return `${new Date(ms).toLocaleTimeString("en-US", { hour: "numeric", minute: "2-digit", timeZone: "UTC" })} UTC`;
}
