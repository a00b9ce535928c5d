import { availabilityOf } from "../target/availability.ts";
import type { Run } from "../target/run.ts";
import type { Target } from "../target/target-table.ts";
import type { Targets } from "../target/targets.ts";

interface FindDeps {
  readonly targets: Targets;
  readonly envHost: string;
}

/** Below it too, besides ENV_HOST and the bare name: a short name for configurations of SSH clients. */
const alias = ".berth";
const sshPort = 22;
const closed = {
  starting: "is starting: try again in a moment",
  paused: "is paused: resume it on its page, then connect again",
  stopped: "is stopped: restart it on its page, then connect again",
  ended: "has ended: launch it again in the app",
  not_answering: "does not answer: look at its page in the app",
} as const;

/**
 * The environment of this user that a client asks for by name, or one sentence why it is not open. Another user's is answered as
 * one that does not exist (G90). Nothing is started by a connection: that would cost money.
 */
export async function findOpen(
  deps: FindDeps,
  userId: string,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ readonly target: Target; readonly run: Run } | string> {
  const { targets } = deps;
  const name = nameOf(host.toLowerCase(), deps.envHost);
  if (name === undefined || port !== sshPort)
    return `Only environments are reached through this host, as NAME.${deps.envHost} and port ${sshPort}`;
  const found = owned(targets, name, userId);
  if (!targets.isRead()) return "Environments are not known yet: try again in a moment";
  if (!found) return `You have no environment ${name}`;
  const availability = availabilityOf(found.route, targets.nowMs());
  // Another process may have announced "open" already while its notification has not arrived here.
  if (availability !== "open") await targets.refresh(found.route.id);
  const target = owned(targets, name, userId);
  if (!target) return `You have no environment ${name}`;
  const now = availabilityOf(target.route, targets.nowMs());
  if (now === "open" && target.run) return { target, run: target.run };
  return `${name} ${closed[now === "open" ? "not_answering" : now]}`;
}

function owned(targets: Targets, name: string, userId: string): Target | undefined {
  const target = targets.find(name);
  return target?.route.userId === userId ? target : undefined;
}

function nameOf(host: string, envHost: string): string | undefined {
  const suffix = [`.${envHost}`, alias].find((each) => host.endsWith(each)) ?? "";
  return /^[a-z0-9-]{1,63}$/.exec(host.slice(0, host.length - suffix.length))?.[0];
}
