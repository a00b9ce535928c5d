import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { vi } from "vitest";

const run = promisify(execFile);
const program = "/usr/sbin/sshd";
/** Log lines of accepted and of abandoned logins. */
const loginLines = /Accepted publickey|authenticating user/g;
/** A user without rights and without a shell. */
const nobody = { uid: 65534, gid: 65534, name: "nobody" };

export function whyNoSshd(): string | undefined {
  if (process.getuid?.() !== 0) return "only root may start an SSH server for another user";
  return existsSync(program) ? undefined : "openssh-server is not installed";
}

/** An SSH server on loopback that accepts `nobody` with one key, for forwarding only. */
export async function openSshd() {
  const folder = mkdtempSync(join(tmpdir(), "berth-sshd-"));
  const { at, newKey } = await serverFiles(folder);
  const log = at("log");
  const port = await freePort();
  const options = optionsOf(at, port);
  let server = await start(options, port, log);
  return {
    port,
    user: nobody.name,
    /** Makes the user the owner of a socket. */
    give: (path: string) => chownSync(path, nobody.uid, nobody.gid),
    /** The hosts folder of a data folder: the current key of this server, and a user's key for a host of that name. */
    keysOf(id: string, { key = "key", known = true } = {}): string {
      const hosts = join(folder, "hosts");
      mkdirSync(join(hosts, id), { recursive: true });
      copyFileSync(at(key), join(hosts, id, "key"));
      chmodSync(join(hosts, id, "key"), 0o600);
      if (known)
        writeFileSync(join(hosts, "known_hosts"), `[127.0.0.1]:${port} ${readFileSync(at("host.pub"), "utf8")}`);
      return hosts;
    },
    /** Number of logins with a key, accepted or not. */
    logins: () => readFileSync(log, "utf8").match(loginLines)?.length ?? 0,
    /** Authorizes this key too. */
    authorize: (key: string) => appendFileSync(at("authorized_keys"), readFileSync(at(`${key}.pub`), "utf8")),
    /** As after another machine has got its address. */
    async changeHostKey(): Promise<void> {
      await end(server);
      await newKey("host");
      chownSync(at("host"), nobody.uid, nobody.gid);
      server = await start(options, port, log);
    },
    async restart(): Promise<void> {
      await end(server);
      server = await start(options, port, log);
    },
    stop: () => end(server),
    async close(): Promise<void> {
      await end(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function serverFiles(folder: string) {
  const own = join(folder, "server");
  mkdirSync(own);
  chmodSync(folder, 0o711);
  const at = (name: string) => join(own, name);
  const newKey = async (name: string) => {
    await rm(at(name), { force: true });
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(name)]);
  };
  for (const name of ["host", "key", "unknown"]) await newKey(name);
  writeFileSync(at("authorized_keys"), `restrict,port-forwarding ${readFileSync(at("key.pub"), "utf8")}`);
  writeFileSync(at("log"), "");
  for (const name of [".", "host", "authorized_keys", "log"]) chownSync(at(name), nobody.uid, nobody.gid);
  return { at, newKey };
}

/** With PAM, because without it an account that has no password counts as locked. */
function optionsOf(at: (name: string) => string, port: number): readonly string[] {
  const files = [`HostKey=${at("host")}`, `AuthorizedKeysFile=${at("authorized_keys")}`, "PidFile=none"];
  const methods = ["UsePAM=yes", "StrictModes=no", "PasswordAuthentication=no", "KbdInteractiveAuthentication=no"];
  return ["ListenAddress=127.0.0.1", `Port=${port}`, ...files, ...methods];
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  return typeof address === "object" && address ? address.port : 0;
}

async function start(options: readonly string[], port: number, log: string): Promise<ChildProcess> {
  const words = ["-D", "-E", log, "-f", "/dev/null", ...options.flatMap((option) => ["-o", option])];
  const server = spawn(program, words, { uid: nobody.uid, gid: nobody.gid, stdio: "ignore" });
  const answers = async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect").finally(() => socket.destroy());
  };
  await vi.waitFor(answers, { timeout: 15_000, interval: 50 });
  return server;
}

/** Ends it with its connections, each of which is a process that would outlive it. */
async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  for (const pid of [...descendants(Number(server.pid)), Number(server.pid)])
    unlessGone(true, () => process.kill(pid, "SIGKILL"));
  await ended;
}

function descendants(pid: number): number[] {
  const text = unlessGone("", () => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"));
  const children = text.split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [...descendants(child), child]);
}

/** A connection may end by itself at any moment. */
function unlessGone<T>(otherwise: T, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (["ESRCH", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) return otherwise;
    throw error;
  }
}
