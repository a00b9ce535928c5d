import { highestPort, lowestPort } from "@berth/contract";

export type Glyph = "pending" | "paused" | "stopped" | "terminated" | "unknown" | "failed";

interface Link {
  readonly label: string;
  readonly href: string;
}

export interface Step {
  readonly text: string;
  readonly state: "done" | "doing" | "waiting";
}

/** One refusal, rendered as HTML for navigations and as JSON for everything else. */
export interface Refusal {
  readonly status: number;
  /** Stable error code for programs. */
  readonly code: string;
  readonly title: string;
  /** One sentence for the page. */
  readonly text: string;
  readonly badge?: { readonly glyph: Glyph; readonly word: string };
  readonly action: Link;
  /** The action is then a button that posts one field to this path of the gateway's own. */
  readonly form?: { readonly path: string; readonly name: string; readonly value: string };
  /** A second, less likely action. */
  readonly other?: Link;
  /** The stages of a start. */
  readonly steps?: readonly Step[];
  readonly retryAfterSeconds?: number;
  /** The page reloads itself after this. */
  readonly refreshSeconds?: number;
}

export const crossSiteRefusal = plainRefusal(
  403,
  "cross_site",
  "Another site asked for this",
  "Open the environment in a tab of its own.",
  "/lab",
);

export const workerRefusal = plainRefusal(
  403,
  "service_worker",
  "A service worker of the whole address is not allowed",
  "It would see how others sign in here. Serve its script from a folder of its own.",
  "/lab",
);

export const malformedRefusal = plainRefusal(
  400,
  "invalid_request",
  "The request is malformed",
  "It can be read in two ways, so it was not passed on.",
  "/lab",
);

/** The same text for a free name and another user's, so that names cannot be enumerated (G90). */
export function missingRefusal(appUrl: string): Refusal {
  return {
    status: 404,
    code: "not_found",
    title: "There is no environment at this address",
    text: "The name is free, or the environment is not yours to open.",
    action: { label: "Go to dashboard", href: `${appUrl}/dashboard` },
  };
}

/** A label that has a port's form with another number. */
export function portRangeRefusal(appUrl: string): Refusal {
  return {
    status: 404,
    code: "not_found",
    title: `Only ports from ${lowestPort} to ${highestPort} have an address`,
    text: "Start the program on one of them.",
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

export function unauthenticatedRefusal(appUrl: string, title: string): Refusal {
  return plainRefusal(401, "unauthenticated", title, "The way in leads through the app.", appUrl);
}

/** The concurrency limit of an environment or of a network is reached. */
export function busyRefusal(appUrl: string, of: "environment" | "address"): Refusal {
  const [status, code] = of === "environment" ? ([503, "unavailable"] as const) : ([429, "rate_limited"] as const);
  const title = "Too many connections are open at once";
  const whose = of === "environment" ? "This environment's" : "This network's";
  const text = `${whose} limit of open connections is reached: close some of them, or wait a moment.`;
  return { ...plainRefusal(status, code, title, text, appUrl), retryAfterSeconds: 5 };
}

export const spentCodeRefusal: Refusal = {
  status: 400,
  code: "sign_in_code_spent",
  title: "This sign-in link no longer works",
  text: "It works once and for 30 seconds.",
  action: { label: "Open the environment", href: "/lab" },
};

export function endedShareRefusal(appUrl: string): Refusal {
  return {
    status: 404,
    code: "share_ended",
    title: "This link no longer works",
    text: "It has ended, or it was taken back. Ask whoever sent it for a new one.",
    action: { label: "Go to the start page", href: appUrl },
  };
}

export function unavailableRefusal(path: string): Refusal {
  const text = "Environments that are open stay open.";
  return {
    ...plainRefusal(503, "unavailable", "Signing in does not work right now", text, path),
    retryAfterSeconds: 2,
  };
}

/** Nobody knows yet which environments there are, so a name that is not known may be one. */
export function unreadRefusal(path: string): Refusal {
  const text = "This server has just started and has not read its list of environments yet. The page opens by itself.";
  return {
    ...plainRefusal(503, "unavailable", "Environments cannot be opened yet", text, path),
    retryAfterSeconds: 2,
    refreshSeconds: 2,
  };
}

/** `reason` is what the app would say too. */
export function restartRefusal(detailPage: string, reason: string): Refusal {
  return {
    status: 409,
    code: "action_not_allowed",
    title: "This environment was not restarted",
    text: `${reason}${/[.!?]$/.test(reason) ? "" : "."}`,
    action: { label: "Show environment", href: detailPage },
  };
}

export function plainRefusal(status: number, code: string, title: string, text: string, href: string): Refusal {
  return { status, code, title, text, action: { label: "Try again", href } };
}
