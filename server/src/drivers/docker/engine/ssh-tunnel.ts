import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DriverError } from "../../driver.ts";
import { openLoginBackoff } from "./login-backoff.ts";
import type { RemoteAddress } from "./remote-address.ts";

/**
 * A local Unix socket that leads to the engine of another machine through the system's `ssh`. Not docker-modem's SSH: it
 * knows no `known_hosts`, so it would accept any host key, and it needs a docker command on the other machine.
 */
export interface SshTunnel {
  readonly socketPath: string;
  /** Opens the tunnel with the first call, and again after it broke. Throws `unavailable`, in one sentence, when it cannot. */
  connect(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface SshKeys {
  /** A file of host keys that an operator has verified; any other key is refused. */
  readonly knownHosts: string;
  /** A private key, used where the file exists; otherwise an agent's and the account's own. */
  readonly key: string;
  /** Socket of an SSH agent. */
  readonly agentSocket?: string | undefined;
}

type SshAddress = Extract<RemoteAddress, { kind: "ssh" }>;

/** Nothing is connected yet. */
export async function openSshTunnel(address: SshAddress, keys: SshKeys): Promise<SshTunnel> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "berth-ssh-"));
  const socketPath = join(folder, "docker.sock");
  const backoff = openLoginBackoff();
  let current: SshProcess | undefined;
  let attempt: Promise<void> | undefined;

  async function attemptOnce(): Promise<void> {
    // A stale socket would count as connected.
    await rm(socketPath, { force: true });
    const ssh = startSsh(address, keys, socketPath);
    current = ssh;
    ssh.child.once("exit", () => {
      if (current === ssh) attempt = undefined;
    });
    if (await appears(socketPath, ssh)) return backoff.reset();
    const { stderr, startError } = ssh;
    if (startError)
      throw unavailable(
        `${address.url} cannot be reached: no ssh can be started on this machine: ${startError.message}`,
      );
    const error = unavailable(explainSsh(address, keys, stderr));
    throw isLoginRefused(stderr) ? backoff.add(error) : error;
  }

  return {
    socketPath,
    async connect(signal) {
      backoff.check();
      if (!attempt) {
        attempt = attemptOnce();
        attempt.catch(() => {
          attempt = undefined;
        });
      }
      await untilAborted(attempt, signal);
    },
    async close() {
      current?.child.stdin?.destroy();
      current?.child.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  await Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", abort));
}

function unavailable(message: string): DriverError {
  return new DriverError("unavailable", message);
}

/** A running or ended `ssh`. */
interface SshProcess {
  readonly child: ChildProcess;
  /** The last 4,000 characters. */
  stderr: string;
  /** Why there is no process. */
  startError?: Error;
  /** After the exit and the last output. */
  readonly ended: Promise<void>;
}

/** Ends `ssh` with this process, however that ends: its standard input closes then. */
const parentBound = 'exec 3<&0; (cat <&3 >/dev/null; kill $$) >/dev/null 2>&1 & exec ssh "$@" 3<&- </dev/null';

function startSsh(address: SshAddress, keys: SshKeys, socketPath: string): SshProcess {
  const agent = keys.agentSocket && { SSH_AUTH_SOCK: keys.agentSocket };
  const forward = ["-L", `${socketPath}:${address.socketPath}`, "--", address.host];
  const child = spawn("/bin/sh", ["-c", parentBound, "sh", ...sshOptions(address, keys), ...forward], {
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", ...agent },
    stdio: ["pipe", "ignore", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ssh: SshProcess = { child, stderr: "", ended };
  child.once("error", (error) => {
    ssh.startError = error;
  });
  // A process without a free file descriptor has no streams.
  child.stderr?.on("data", (chunk) => {
    ssh.stderr = `${ssh.stderr}${chunk}`.slice(-4_000);
  });
  child.once("exit", () => child.stdin?.destroy());
  // A write fails once the process has ended.
  child.stdin?.on("error", () => {});
  return ssh;
}

/** Whether the socket was there before `ssh` ended. */
async function appears(socketPath: string, ssh: SshProcess): Promise<boolean> {
  while (!existsSync(socketPath)) {
    if (ssh.startError) return false;
    if (ssh.child.exitCode !== null || ssh.child.signalCode !== null) {
      await ssh.ended;
      return false;
    }
    await wait(20);
  }
  return true;
}

/** Nothing comes from the account's own settings: what is not set here is refused or off. */
function sshOptions({ user, port }: SshAddress, { knownHosts, key }: SshKeys): string[] {
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
    // A broken connection is detected within 10 s.
    ServerAliveInterval: "5",
    ServerAliveCountMax: "1",
    ...(existsSync(key) && { IdentityFile: `"${key}"`, IdentitiesOnly: "yes" }),
  };
  const named = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  return ["-N", "-T", "-F", "none", "-l", user, "-p", String(port), ...named];
}

/** A login that is refused again and again locks the account out on some machines. */
const isLoginRefused = (stderr: string) => /Permission denied \(|Too many authentication failures/.test(stderr);

function explainSsh({ url, user, host, port }: SshAddress, { knownHosts, key }: SshKeys, stderr: string): string {
  if (/REMOTE HOST IDENTIFICATION HAS CHANGED/.test(stderr))
    return `${url} is refused: its host key is another one than in ${knownHosts}, so it may be another machine. If it was set up anew, replace its line there`;
  if (/No \S+ host key is known|Host key verification failed/.test(stderr))
    return `${url} is refused: its host key is not known. Compare the key that ssh-keyscan -p ${port} ${host} prints with the machine's own, then add it to ${knownHosts}`;
  if (/UNPROTECTED PRIVATE KEY|bad permissions/.test(stderr))
    return `The key ${key} may be read by others: chmod 600 it`;
  if (/Permission denied \(/.test(stderr))
    return `${url} does not let ${user} in: put the public key of ${key}, or one of your SSH agent, into its authorized_keys`;
  if (/not found/.test(stderr) && /ssh: /.test(stderr) && !/resolve/.test(stderr))
    return "ssh is not installed on this machine: the package is openssh-client";
  const last = stderr.trim().split("\n").at(-1)?.trim() ?? "";
  return `${url} cannot be reached: ${last || "ssh ended"}`;
}
