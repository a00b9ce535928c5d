import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { GatewayCounts } from "../access/gateway-counts.ts";
import type { OpenExchange, OpenExchanges } from "../access/open-exchanges.ts";
import type { ActivityTracker } from "../forward/activity-tracker.ts";
import { sshDial } from "../http-client/port-dial.ts";
import { UpstreamError } from "../http-client/upstream-error.ts";
import type { Run } from "../target/run.ts";
import type { Target } from "../target/target-table.ts";

export interface JoinDeps {
  readonly exchanges: OpenExchanges;
  readonly activity: ActivityTracker;
  readonly counts: GatewayCounts;
  /** SSH connections of each environment at this gateway. */
  readonly perEnvironment: Map<string, number>;
}

/** Whoever asks for a connection. */
export interface Caller {
  /** The rate limit key of its address. */
  readonly address: string;
  /** Lines of authorized_keys. */
  readonly keys: readonly string[];
  accept(): Duplex;
  refuse(text: string): void;
  /** After it was accepted. */
  onEnd(): void;
}

const readBytes = 64 * 1024;
const mostPerEnvironment = 20;
/** JupyterLab may be busy. */
const joinTimeoutMs = 30_000;
/** After one side ended, for the other to receive the remaining bytes. */
const drainTimeoutMs = 2000;

const faults = {
  not_installed: "SSH is not installed on the machine of this environment",
  too_old: "This environment was started before it had SSH: stop it and restart it once",
  not_listening: undefined,
} as const;
const silence = "This environment does not answer";

/**
 * Joins a caller to an SSH server that JupyterLab starts for it (images/ssh.py, G404); the caller is accepted when that answers.
 * Returns what ends it at once, unless it was refused. It is one of the open exchanges, which end when they may not go on.
 */
export function joinSsh(deps: JoinDeps, { route }: Target, run: Run, caller: Caller): (() => void) | undefined {
  const limit = limitReached(deps, route.id, caller.address);
  if (limit) {
    caller.refuse(limit);
    return undefined;
  }
  const { subdomain, id: environmentId, secret } = route;
  let client: Duplex | undefined;
  const upstream = sshDial(run.endpoint, run.token, caller.keys)(
    readBytes,
    () => {
      clearTimeout(timer);
      client = caller.accept();
      relay(client, upstream, deps.activity.countClient(environmentId));
    },
    (bytes) => {
      if (client?.writable && !client.write(bytes)) upstream.pause();
      // What is written already is read by nobody: a new buffer for each read costs more than its encryption.
      return client !== undefined && client.writableLength > 0;
    },
  );
  const timer = setTimeout(() => upstream.destroy(), joinTimeoutMs);
  const destroy = () => {
    upstream.destroy();
    client?.destroy();
  };
  const about = { subdomain, environmentId, address: caller.address, run, grantId: undefined, secret };
  const remove = register(deps, { ...about, isSsh: true, destroy, index: -1 });
  let reason: string = silence;
  upstream.on("error", (error) => {
    reason = (error instanceof UpstreamError && error.fault && faults[error.fault]) || silence;
  });
  upstream.on("close", () => {
    clearTimeout(timer);
    remove();
    if (client) caller.onEnd();
    else caller.refuse(reason);
  });
  return destroy;
}

function limitReached({ exchanges, perEnvironment }: JoinDeps, id: string, address: string): string | undefined {
  if ((perEnvironment.get(id) ?? 0) >= mostPerEnvironment)
    return `This environment has ${mostPerEnvironment} SSH connections already: close one first`;
  return exchanges.limitOf(id, address) && "Too many connections are open: close some first";
}

function register({ exchanges, counts, perEnvironment }: JoinDeps, exchange: OpenExchange): () => void {
  const { environmentId } = exchange;
  exchanges.add(exchange);
  perEnvironment.set(environmentId, (perEnvironment.get(environmentId) ?? 0) + 1);
  counts.ssh++;
  counts.openSsh++;
  return () => {
    exchanges.remove(exchange);
    const left = (perEnvironment.get(environmentId) ?? 0) - 1;
    if (left > 0) perEnvironment.set(environmentId, left);
    else perEnvironment.delete(environmentId);
    counts.openSsh--;
  };
}

/** Both ways with back-pressure; what the environment sends is written by the caller of `dial`. The end of one side ends the other. */
function relay(client: Duplex, upstream: Socket, onClientBytes: (bytes: number) => void): void {
  client.on("data", (bytes: Buffer) => {
    onClientBytes(bytes.length);
    if (!upstream.write(bytes)) client.pause();
  });
  upstream.on("drain", () => client.resume());
  client.on("drain", () => upstream.resume());
  client.on("error", () => upstream.destroy());
  client.on("end", () => upstream.end());
  client.on("close", () => upstream.destroy());
  upstream.on("end", () => client.end());
  upstream.on("close", () => {
    client.end();
    const timeout = setTimeout(() => client.destroy(), drainTimeoutMs);
    client.once("close", () => clearTimeout(timeout));
  });
}
