import type { IncomingMessage, ServerResponse } from "node:http";
import { type Availability, type BarState, barState, planOf, secondsLeft, unusedMinor } from "@berth/contract";
import { type BarFacts, grantEndedWithRun } from "../../environments/api/bar-facts.ts";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { barClosed } from "../refusals/bar-closed.ts";
import { missingRefusal } from "../refusals/refusals.ts";
import { ownFields, refuse } from "../refusals/refuse.ts";
import { availabilityOf } from "../target/availability.ts";
import { grantOf } from "./owner-grant.ts";
import type { SignInDeps } from "./sign-in.ts";

/** A single failed connection is not yet silence. */
const silentMs = 5000;

/** Whoever asks by cookie. `isSignedOut`: their grant has ended with its run. */
interface Viewer {
  readonly isGuest: boolean;
  readonly isSignedOut: boolean;
}

/**
 * What the bar in JupyterLab shows, whatever state the environment is in (G392). From memory, but for money, measurements and
 * the time of a stop, which are left out while the database is unavailable. Never counts as activity.
 */
export async function serveState(
  deps: SignInDeps,
  request: IncomingMessage,
  response: ServerResponse,
  route: EnvironmentRoute,
): Promise<void> {
  const viewer = await viewerOf(deps, request.headers.cookie, route);
  if (!viewer) return refuse(deps, request, response, missingRefusal(deps.appUrl));
  const facts = viewer.isGuest ? undefined : await deps.barFacts(route);
  const body = JSON.stringify(barState.parse(stateOf(deps, route, viewer, facts)));
  const fields = { "Content-Type": "application/json; charset=utf-8", "Content-Length": Buffer.byteLength(body) };
  response.writeHead(200, { ...ownFields, ...fields }).end(body);
}

/** A stop ends the grants of its run, and the page that is open then asks afterwards (G393). */
async function viewerOf(
  deps: SignInDeps,
  cookie: string | undefined,
  route: EnvironmentRoute,
): Promise<Viewer | undefined> {
  const grant = await grantOf(deps, cookie, route);
  if (grant) return { isGuest: grant.share !== undefined, isSignedOut: false };
  const grantId = deps.cookies.proven(cookie, route);
  if (grantId === undefined) return undefined;
  const ended = await grantEndedWithRun(deps.db, { grantId, environmentId: route.id });
  return ended && { isGuest: ended.shared, isSignedOut: true };
}

function stateOf(
  { appUrl, targets }: SignInDeps,
  route: EnvironmentRoute,
  { isGuest, isSignedOut }: Viewer,
  facts: BarFacts | undefined,
): BarState {
  const nowMs = targets.nowMs();
  const silentSinceMs = targets.find(route.subdomain)?.run?.silentSinceMs;
  const availability = shownAvailability(route, nowMs, silentSinceMs);
  const about = { appUrl, path: "/lab", nowMs, silentSinceMs, isGuest };
  const isOpen = availability === "open";
  return {
    name: route.subdomain,
    availability,
    now: new Date(nowMs).toISOString(),
    closed: isOpen ? (isSignedOut ? runsAgain : null) : barClosed(availability, route, facts, about),
    rental: isGuest || (isSignedOut && isOpen) ? null : rentalOf(appUrl, route, facts, nowMs),
    sample: isOpen && !isSignedOut ? (facts?.sample ?? null) : null,
  };
}

const runsAgain = {
  ...{ title: "This environment runs again", at: null, by: "" },
  ...{ text: "What was in memory is gone. Load this page again to sign in.", is_final: true },
};

function shownAvailability(route: EnvironmentRoute, nowMs: number, silentSinceMs: number | undefined): Availability {
  const availability = availabilityOf(route, nowMs);
  const isSilent = route.status === "unknown" || (silentSinceMs !== undefined && nowMs - silentSinceMs > silentMs);
  return availability === "open" && isSilent ? "not_answering" : availability;
}

function rentalOf(
  appUrl: string,
  route: EnvironmentRoute,
  facts: BarFacts | undefined,
  nowMs: number,
): BarState["rental"] {
  const page_url = `${appUrl}/environments/${route.id}`;
  const expires_at = (facts?.expires_at ?? route.expiresAt)?.toISOString() ?? null;
  const clock = { expires_at, banked_seconds: route.bankedSeconds };
  return {
    ...clock,
    plan: facts ? planOf(facts.duration_hours) : null,
    booked: facts ? bookedOf(facts, secondsLeft(clock, nowMs)) : null,
    page_url,
    add_time_url: `${page_url}?extend=${route.id}`,
  };
}

function bookedOf({ booked_hours, paid }: BarFacts, left: number): NonNullable<BarState["rental"]>["booked"] {
  const seconds = booked_hours * 3600;
  return {
    seconds,
    paid: paid.map(({ currency, minor }) => {
      const unused = unusedMinor({ paidMinor: minor, secondsLeft: left, bookedSeconds: seconds });
      return { currency, minor, used_minor: minor - unused };
    }),
  };
}
