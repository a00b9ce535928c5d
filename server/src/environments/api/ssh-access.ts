import type { environmentSsh, ReplyOf, SshConnection, Status } from "@berth/contract";
import { askJupyter } from "../ask-jupyter.ts";
import type { Environment } from "../environment.ts";

/** Where the gateway takes SSH. */
export interface JumpHost {
  readonly host: string;
  readonly port: number;
  /** Type and base64 of its key. */
  readonly publicKey: string;
}

type Access = Omit<ReplyOf<typeof environmentSsh>, "status">;
type Reached = Pick<Environment, "subdomain" | "status" | "endpoint" | "run_token">;

const timeoutMs = 3000;
/** The images' user, who is a run's wherever it has a sandbox or a container. */
const usualUser = "berth";

/** What the environment's page shows (G413). A run is asked for its host key and its user (images/ssh.py). */
export async function sshAccessOf(row: Reached, jumpHost: JumpHost | undefined): Promise<Access> {
  if (!jumpHost) return refused("SSH is not offered here.");
  if (row.status !== "active") return refused(resting(row), connectionOf(row, jumpHost));
  const answer = await askRun(row);
  if (answer === "not_installed") return refused("SSH is not installed on the machine of this environment.");
  if (answer === "too_old")
    return refused("This environment was started before it had SSH: stop it and restart it once.");
  if (answer === "silent") return refused("The environment does not answer now.", connectionOf(row, jumpHost));
  return { available: true, reason: null, connection: connectionOf(row, jumpHost, answer) };
}

function refused(reason: string, connection: SshConnection | null = null): Access {
  return { available: false, reason, connection };
}

const states: Readonly<Record<Exclude<Status, "active">, string>> = {
  pending: "It is starting: it answers once it is ready.",
  paused: "It is paused: restart it to connect.",
  stopped: "It is stopped: restart it to connect.",
  terminated: "It has ended.",
  unknown: "Its machine cannot be reached at the moment.",
};

function resting({ status }: Reached): string {
  return states[status as Exclude<Status, "active">];
}

interface Described {
  readonly user: string;
  readonly hostKey: string;
}

/** The owner's code can answer in its place, so only what has the form of a name and of a key is taken. */
async function askRun({
  endpoint,
  run_token: token,
}: Reached): Promise<Described | "not_installed" | "too_old" | "silent"> {
  if (!endpoint || token === null) return "silent";
  const signal = AbortSignal.timeout(timeoutMs);
  const answer = await askJupyter(endpoint, token, "/berth/ssh/host-key", signal).catch(() => undefined);
  if (answer?.status === 501) return "not_installed";
  if (answer?.status === 404) return "too_old";
  const { user, host_key: hostKey } = (answer?.body ?? {}) as { readonly user?: unknown; readonly host_key?: unknown };
  if (typeof user !== "string" || !/^[a-z_][a-z0-9_-]{0,31}$/.test(user)) return "silent";
  const [line] =
    typeof hostKey === "string" ? (/^[a-z0-9@.-]{1,64} [A-Za-z0-9+/]{1,1024}={0,2}/.exec(hostKey) ?? []) : [];
  return line === undefined ? "silent" : { user, hostKey: line };
}

function connectionOf({ subdomain }: Reached, jumpHost: JumpHost, run?: Described): SshConnection {
  const user = run?.user ?? usualUser;
  const host = `${subdomain}.berth`;
  const { host: jump_host, port: jump_port, publicKey } = jumpHost;
  // What ssh takes in brackets is IPv6 or a name with its port.
  const known = jump_port === 22 ? jump_host : `[${jump_host}]:${jump_port}`;
  const jump = `${user}@${jump_host}:${jump_port}`;
  return {
    ...{ jump_host, jump_port, host, user },
    command: `ssh -J ${jump} ${user}@${host}`,
    config: `Host ${host}\n  User ${user}\n  ProxyJump ${jump}\n`,
    known_hosts: [`${known} ${publicKey}`, ...(run ? [`${host} ${run.hostKey}`] : [])],
  };
}
