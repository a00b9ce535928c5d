import type { BarState } from "@berth/contract";
import type { BarFacts } from "../../environments/api/bar-facts.ts";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { movingText } from "../../environments/move-percent.ts";
import { type About, availabilityRefusal, type Closed, guestRefusal } from "./availability-refusal.ts";

type Sentence = NonNullable<BarState["closed"]>;

const service = "by whoever runs this service";

const stoppedBy: Readonly<Record<string, string>> = {
  stopped: "by you",
  idle: "because it was idle",
  silent: "because JupyterLab did not answer",
  suspended: "because its account was suspended",
};

const endedBy: Readonly<Record<string, string>> = {
  expired: "because its time is over",
  terminated: "by you",
  operator: service,
  hardware: "because its machine failed",
};

/** What the bar in JupyterLab says of an environment that is not open: the page's text, and when and by whom (G392). */
export function barClosed(
  availability: Closed,
  route: EnvironmentRoute,
  facts: BarFacts | undefined,
  about: About & { readonly isGuest: boolean },
): Sentence {
  const refusal = about.isGuest
    ? guestRefusal(availability, about.path)
    : availabilityRefusal(availability, route, about);
  const said = { title: refusal.title, at: null, by: "", text: refusal.text, is_final: false };
  if (about.isGuest) return said;
  if (availability === "stopped") return { ...said, ...stopped(route, facts) };
  if (availability === "ended") return { ...said, ...ended(route, facts) };
  if (availability !== "not_answering" || !facts?.lost_since) return said;
  const text = "Its machine gives no sign. Its clock stands still, and it goes on by itself when the machine is back.";
  return { ...said, at: facts.lost_since.toISOString(), text };
}

function stopped({ status, subdomain }: EnvironmentRoute, facts: BarFacts | undefined): Partial<Sentence> {
  if (status !== "stopped")
    return { title: "This environment is being stopped", text: "What is in memory goes, and its files are kept." };
  const title = "This environment was stopped";
  if (!facts) return { title };
  const percent = facts.moving_percent;
  return {
    title,
    at: facts.closed_at?.toISOString() ?? null,
    by: facts.stopped_by_operator ? service : (stoppedBy[facts.closed_reason ?? ""] ?? ""),
    is_final: percent === null,
    ...(percent !== null && { text: `${movingText(subdomain, percent)}.` }),
  };
}

function ended({ status, expiresAt, endedReason }: EnvironmentRoute, facts: BarFacts | undefined): Partial<Sentence> {
  const isOver = status === "terminated";
  const by = endedBy[endedReason ?? (isOver ? "" : "expired")] ?? "";
  return {
    title: by.startsWith("by ") ? "This environment was ended" : "This environment ended",
    at: (isOver ? facts?.terminated_at : expiresAt)?.toISOString() ?? null,
    by,
    is_final: isOver,
  };
}
