import { type Availability, launchStages } from "@berth/contract";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { formatDuration } from "../../text/format-duration.ts";
import { restartPath } from "../principal/reserved-names.ts";
import { plainRefusal, type Refusal, type Step } from "./refusals.ts";

export type Closed = Exclude<Availability, "open">;

export interface About {
  readonly appUrl: string;
  /** The path that was requested. */
  readonly path: string;
  readonly nowMs: number;
  /** Time of the first missing response, by the database's clock. */
  readonly silentSinceMs?: number | undefined;
}

/** The refusal for the owner of an environment that is not open. */
export function availabilityRefusal(availability: Closed, route: EnvironmentRoute, about: About): Refusal {
  return ownerRefusals[availability](route, about);
}

const ownerRefusals: Readonly<Record<Closed, (route: EnvironmentRoute, about: About) => Refusal>> = {
  starting: startingRefusal,
  paused: (route, about) => ({
    status: 503,
    code: "paused",
    title: "This environment is paused",
    text: `Its memory and GPUs are kept, and the clock is running${timeLeft(route, about.nowMs)}.`,
    badge: { glyph: "paused", word: "Paused" },
    ...restartAction(route, about),
  }),
  stopped: (route, about) => ({
    status: 503,
    code: "stopped",
    title: "This environment is stopped",
    text: stoppedText(route, about.nowMs),
    badge: { glyph: "stopped", word: "Stopped" },
    ...restartAction(route, about),
  }),
  ended: ({ filesUntil }, { appUrl }) => ({
    status: 410,
    code: "ended",
    title: "This environment has ended",
    text: `Your files are kept ${filesUntil ? `until ${day(filesUntil)} ` : ""}and come back when you launch under this name again.`,
    badge: { glyph: "terminated", word: "Terminated" },
    action: { label: "Launch again", href: `${appUrl}/environments/create` },
  }),
  not_answering: (_route, { silentSinceMs, nowMs, path }) => ({
    status: 502,
    code: "not_answering",
    title: "This environment does not answer",
    text: `JupyterLab has given no answer since ${time(silentSinceMs ?? nowMs)}; your files are not affected.`,
    badge: { glyph: "failed", word: "Not answering" },
    action: { label: "Try again", href: path },
    retryAfterSeconds: 5,
  }),
};

/** The app's word for both (spec 4.2). */
function restartAction(route: EnvironmentRoute, about: About): Pick<Refusal, "action" | "form" | "other"> {
  return {
    action: { label: "Restart", href: "" },
    form: { path: restartPath, name: "path", value: about.path },
    other: { label: "Show environment", href: detailPage(route, about) },
  };
}

const stageTexts: Readonly<Record<string, string>> = {
  paid: "payment received",
  placed: "preparing your GPUs",
  image: "pulling image",
  created: "starting container",
  started: "starting JupyterLab",
  answering: "starting JupyterLab",
  ready: "starting JupyterLab",
};

function startingRefusal(route: EnvironmentRoute, about: About): Refusal {
  const stage = stageTexts[route.stage ?? ""];
  const hasStarted = route.expiresAt || route.bankedSeconds > 0;
  return {
    status: 503,
    code: "starting",
    title: "This environment is starting",
    text: `The page opens by itself as soon as JupyterLab answers${hasStarted ? "" : "; the clock starts then, not before"}.`,
    badge: { glyph: "pending", word: stage ? `Starting: ${stage}` : "Starting" },
    steps: stepsOf(route.stage),
    action: { label: "Show progress", href: detailPage(route, about) },
    retryAfterSeconds: 1,
    refreshSeconds: 1,
  };
}

/** The app's timeline, with the stage that ends each line. A resume has no stages. */
const startSteps = [
  ["GPUs reserved", "placed"],
  ["Image ready", "image"],
  ["Container started", "started"],
  ["JupyterLab started", "answering"],
  ["Answers at its address", "ready"],
] as const;

function stepsOf(stage: string | null): readonly Step[] {
  const now = (launchStages as readonly (string | null)[]).indexOf(stage);
  if (now < 0) return [];
  const doing = startSteps.findIndex(([, until]) => launchStages.indexOf(until) >= now);
  return startSteps.map(([text], index) => ({
    text,
    state: index < doing ? "done" : index === doing ? "doing" : "waiting",
  }));
}

const stopReasonTexts: Readonly<Record<NonNullable<EnvironmentRoute["stopReason"]>, string>> = {
  idle: "Your files are safe and ",
  silent:
    "JupyterLab did not answer for ten minutes, though its container ran. On its page you can start it without your settings. Your files are safe and ",
  no_home:
    "Its files are not there at the moment, so it is not started. Whoever runs this service has been told. None of its time is lost: ",
  suspended: "It was stopped because its account was suspended. Your files are safe and ",
};

function stoppedText(route: EnvironmentRoute, nowMs: number): string {
  const time =
    route.bankedSeconds > 0
      ? `${formatDuration(route.bankedSeconds)} ${route.bankedSeconds < 3600 ? "is" : "are"} banked.`
      : `your GPUs are held, and the clock is running${timeLeft(route, nowMs)}.`;
  return `${stopReasonTexts[route.stopReason ?? "idle"]}${time}`;
}

const guestTexts: Readonly<Record<Closed, readonly [title: string, text: string]>> = {
  starting: ["This environment is starting", "The page opens by itself as soon as JupyterLab answers."],
  paused: ["This environment is paused", "It goes on when its owner resumes it."],
  stopped: ["This environment is stopped", "It can be opened again when its owner restarts it."],
  ended: ["This environment has ended", "Ask whoever shared it with you."],
  not_answering: ["This environment does not answer", "Its owner can look into it."],
};

/** The refusal for a guest with a share link: the state, without details of the owner's rental. */
export function guestRefusal(availability: Closed, path: string): Refusal {
  const [title, text] = guestTexts[availability];
  const status = availability === "ended" ? 410 : availability === "not_answering" ? 502 : 503;
  return {
    ...plainRefusal(status, availability, title, text, path),
    ...(availability === "starting" && { retryAfterSeconds: 1, refreshSeconds: 1 }),
  };
}

function detailPage({ id }: EnvironmentRoute, { appUrl }: About): string {
  return `${appUrl}/environments/${id}`;
}

function timeLeft({ expiresAt }: EnvironmentRoute, nowMs: number): string {
  return expiresAt ? `: ${formatDuration((expiresAt.getTime() - nowMs) / 1000)} left` : "";
}

function day(date: Date): string {
  return date.toLocaleDateString("en-US", { month: "short", day: "numeric", year: "numeric", timeZone: "UTC" });
}

function time(ms: number): string {
  return `${new Date(ms).toLocaleTimeString("en-US", { hour: "numeric", minute: "2-digit", timeZone: "UTC" })} UTC`;
}
