import {
  type Action,
  buttonsByStatus,
  type Container,
  type environmentDetail,
  type ReplyOf,
  type Status,
  statuses,
} from "@berth/contract";
import { environmentHost } from "../../api/page-settings.ts";
import { environmentName } from "../../format.ts";

/** A container of the profile with its id and display name (spec 3.2). */
export interface Environment extends Container {
  readonly id: string;
  readonly name: string;
  /** Of its address; empty without a subdomain, because there is no address then (G303). */
  readonly host: string;
}

/** An environment on its own page. */
export type Detail = Environment & ReplyOf<typeof environmentDetail>["environment"];

export function detailed(environment: ReplyOf<typeof environmentDetail>["environment"]): Detail {
  return { ...environment, ...asKnown(environment.id, environment) };
}

/** The profile's map as a list, without keys that start with an underscore (spec 3.2). */
export function environmentsOf(containers: Readonly<Record<string, Container>>): readonly Environment[] {
  return Object.entries(containers)
    .filter(([id]) => !id.startsWith("_"))
    .map(([id, container]) => asKnown(id, container));
}

/** Applies the defaults: one GPU, and a known status (spec 3.2). */
function asKnown(id: string, container: Container): Environment {
  const { subdomain, status, gpu_count } = container;
  return {
    ...container,
    id,
    name: environmentName(id, subdomain),
    host: subdomain === "" ? "" : environmentHost(subdomain),
    status: knownStatus(status),
    gpu_count: gpu_count || 1,
  };
}

/** Maps `running` to active (spec 4.2), and unrecognized statuses to unknown. */
function knownStatus(status: string): Status {
  if (status === "running") return "active";
  return statuses.find((known) => known === status) ?? "unknown";
}

/** True if the status will change soon, so that the list polls more often. */
export function isChanging(environment: Environment): boolean {
  return environment.status === "pending" || environment.status === "unknown";
}

/** True for a launch that was never ready, which can be cancelled (G75); a restart has an end or banked time. */
export function isFirstLaunch(environment: Environment): boolean {
  return environment.status === "pending" && environment.expires_at === null && environment.banked_seconds === 0;
}

/** Since when its clock stands, because its machine gives no sign (G181). */
export function stillSince({ status, lost_since }: Pick<Detail, "status" | "lost_since">): string | null {
  return status === "unknown" ? lost_since : null;
}

/** Left to right; the last one is the row's main action. */
export function buttonsOf(environment: Environment): readonly Action[] {
  return buttonsByStatus[environment.status];
}

/** Whether Stop changes anything: it succeeds on a stopped one too (G25). */
export function canStop(environment: Environment): boolean {
  return environment.status !== "stopped" && buttonsOf(environment).includes("stop");
}

const targets: Readonly<Record<Action, Status>> = {
  pause: "paused",
  stop: "stopped",
  restart: "active",
  start: "active",
};

/** Whether the list shows the action's target status or any other change. */
export function isSettled(action: Action, before: Status, now: Status): boolean {
  return now === targets[action] || now !== before;
}
