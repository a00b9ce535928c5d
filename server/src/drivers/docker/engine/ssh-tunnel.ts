import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DriverError } from "../../driver.ts";
import type { RemoteAddress } from "./remote-address.ts";

/** A Unix socket here that leads to an engine's there, through the system's `ssh`. */
export interface SshTunnel {
  readonly socketPath: string;
  /** Opened with the first call, and again after it broke. Throws `unavailable`, in one sentence, when it cannot be. */
  connect(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface SshKeys {
  /** The keys of hosts that an operator has verified; any other key is refused. */
  readonly knownHosts: string;
  /** A private key, used where the file is there; else an agent's and the account's own. */
  readonly key: string;
  /** Socket of an SSH agent. */
  readonly agentSocket?: string | undefined;
}

type SshAddress = Extract<RemoteAddress, { kind: "ssh" }>;

/** Ends `ssh` when this process has, however it ended: its line of input closes then. */
const leashed = 'exec 3<&0; (cat <&3 >/dev/null; kill $$) >/dev/null 2>&1 & exec ssh "$@" 3<&- </dev/null';

/** Nothing is connected yet. */
export async function openSshTunnel(address: SshAddress, keys: SshKeys): Promise<SshTunnel> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "berth-ssh-"));
  const socketPath = join(folder, "docker.sock");
  let child: ChildProcess | undefined;
  let attempt: Promise<void> | undefined;
  const refusals = keepRefusals();

  async function connect(): Promise<void> {
    // Left by the one before: its name would look like the new one's.
    await rm(socketPath, { force: true });
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", ...(keys.agentSocket && { SSH_AUTH_SOCK: keys.agentSocket }) };
    const forward = ["-L", `${socketPath}:${address.socketPath}`, "--", address.host];
    const words = ["-c", leashed, "sh", ...optionsOf(address, keys), ...forward];
    const started = spawn("/bin/sh", words, { env, stdio: ["pipe", "ignore", "pipe"] });
    child = started;
    let trouble = "";
    started.once("error", (error) => {
      trouble = `${address.url} cannot be reached: no ssh can be started on this machine: ${error.message}`;
    });
    let said = "";
    // Without a file to spare it has none of these. What it says once it is up is of single connections; only the newest could matter.
    started.stderr?.on("data", (chunk) => (said = `${said}${chunk}`.slice(-4_000)));
    const ended = new Promise<void>((resolve) => started.once("close", () => resolve()));
    started.once("exit", () => {
      started.stdin?.destroy();
      if (child === started) attempt = undefined;
    });
    // Where it cannot be written to any more, it has ended.
    started.stdin?.on("error", () => {});
    while (!existsSync(socketPath)) {
      if (trouble) throw new DriverError("unavailable", trouble);
      if (started.exitCode !== null || started.signalCode !== null) {
        await ended;
        const error = new DriverError("unavailable", explainSsh(address, keys, said));
        throw isRefused(said) ? refusals.keep(error) : error;
      }
      await wait(20);
    }
    refusals.forget();
  }

  return {
    socketPath,
    async connect(signal) {
      refusals.check();
      if (!attempt) {
        attempt = connect();
        attempt.catch(() => {
          attempt = undefined;
        });
      }
      const late = Promise.withResolvers<never>();
      const stop = () => late.reject(signal.reason);
      signal.addEventListener("abort", stop);
      await Promise.race([attempt, late.promise]).finally(() => signal.removeEventListener("abort", stop));
    },
    async close() {
      child?.stdin?.destroy();
      child?.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const isRefused = (said: string) => /Permission denied \(|Too many authentication failures/.test(said);

/** A login that was refused is not tried again at once: whoever knocks too often is locked out for good. */
function keepRefusals() {
  let last: { readonly error: DriverError; readonly restMs: number; readonly untilMs: number } | undefined;
  return {
    /** Throws it again while it rests: a second at first, twice as long each time, at most a minute. */
    check() {
      if (last && performance.now() < last.untilMs) throw last.error;
    },
    keep(error: DriverError): DriverError {
      const restMs = Math.min(60_000, (last?.restMs ?? 500) * 2);
      last = { error, restMs, untilMs: performance.now() + restMs };
      return error;
    },
    forget() {
      last = undefined;
    },
  };
}

/** Nothing of the account's own settings: what is not said here is refused or off. */
function optionsOf({ user, port }: SshAddress, { knownHosts, key }: SshKeys): string[] {
  const options = {
    BatchMode: "yes",
    StrictHostKeyChecking: "yes",
    UserKnownHostsFile: `"${knownHosts}"`,
    GlobalKnownHostsFile: "none",
    UpdateHostKeys: "no",
    ForwardAgent: "no",
    ControlPath: "none",
    ExitOnForwardFailure: "yes",
    StreamLocalBindUnlink: "yes",
    ConnectTimeout: "5",
    // A machine that went away is noticed within 10 s.
    ServerAliveInterval: "5",
    ServerAliveCountMax: "1",
    ...(existsSync(key) && { IdentityFile: `"${key}"`, IdentitiesOnly: "yes" }),
  };
  return [
    "-N",
    "-T",
    "-F",
    "none",
    "-l",
    user,
    "-p",
    String(port),
    ...Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]),
  ];
}

function explainSsh({ url, user, host, port }: SshAddress, { knownHosts, key }: SshKeys, said: string): string {
  if (/REMOTE HOST IDENTIFICATION HAS CHANGED/.test(said))
    return `${url} is refused: its host key is another one than in ${knownHosts}, so it may be another machine. If it was set up anew, replace its line there`;
  if (/No \S+ host key is known|Host key verification failed/.test(said))
    return `${url} is refused: its host key is not known. Compare the key that ssh-keyscan -p ${port} ${host} prints with the machine's own, then add it to ${knownHosts}`;
  if (/UNPROTECTED PRIVATE KEY|bad permissions/.test(said)) return `The key ${key} may be read by others: chmod 600 it`;
  if (/Permission denied \(/.test(said))
    return `${url} does not let ${user} in: put the public key of ${key}, or one of your SSH agent, into its authorized_keys`;
  if (/not found/.test(said) && /ssh: /.test(said) && !/resolve/.test(said))
    return "ssh is not installed on this machine: the package is openssh-client";
  const last = said.trim().split("\n").at(-1)?.trim() ?? "";
  return `${url} cannot be reached: ${last || "ssh ended"}`;
}
