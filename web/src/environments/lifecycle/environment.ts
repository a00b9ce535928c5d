import {
  type Action,
  buttonsByStatus,
  type Container,
  type environmentDetail,
  type ReplyOf,
  type Status,
  statuses,
} from "@berth/contract";
import { environmentName } from "../../format.ts";

/** A container of the profile with its id and the name people know it by (spec 3.2). */
export interface Environment extends Container {
  readonly id: string;
  readonly name: string;
}

/** One environment as its own page has it. */
export type Detail = Environment & ReplyOf<typeof environmentDetail>["environment"];

export function detailed(environment: ReplyOf<typeof environmentDetail>["environment"]): Detail {
  return { ...environment, ...asKnown(environment.id, environment) };
}

/** The profile's map as a list; keys starting with an underscore are not environments (spec 3.2). */
export function environmentsOf(containers: Readonly<Record<string, Container>>): readonly Environment[] {
  return Object.entries(containers)
    .filter(([id]) => !id.startsWith("_"))
    .map(([id, container]) => asKnown(id, container));
}

/** With the specification's defaults: one GPU, and a status that the screens know (spec 3.2). */
function asKnown(id: string, container: Container): Environment {
  const { subdomain, status, gpu_count } = container;
  return {
    ...container,
    id,
    name: environmentName(id, subdomain),
    status: knownStatus(status),
    gpu_count: gpu_count || 1,
  };
}

/** `running` is a synonym of active (spec 4.2); an unknown status must not break the page. */
function knownStatus(status: string): Status {
  if (status === "running") return "active";
  return statuses.find((known) => known === status) ?? "unknown";
}

/** Its status will change soon, so the list polls more often. */
export function isChanging(environment: Environment): boolean {
  return environment.status === "pending" || environment.status === "unknown";
}

/** Only a launch that was never ready can be cancelled (G75); a restart is known by its end or banked time. */
export function isFirstLaunch(environment: Environment): boolean {
  return environment.status === "pending" && environment.expires_at === null && environment.banked_seconds === 0;
}

/** Left to right; the last one is the row's main action. */
export function buttonsOf(environment: Environment): readonly Action[] {
  return buttonsByStatus[environment.status];
}

const targets: Readonly<Record<Action, Status>> = {
  pause: "paused",
  stop: "stopped",
  restart: "active",
  start: "active",
};

/** Whether the list shows the action's target status, or any other change since. */
export function isSettled(action: Action, before: Status, now: Status): boolean {
  return now === targets[action] || now !== before;
}
