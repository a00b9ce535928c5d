import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import type { Db } from "../../../database/database.ts";
import { newId } from "../../../database/new-id.ts";
import type { Gateway } from "../../gateway.ts";
import { listen, track } from "../../testing/setup-gateway.ts";

const run = promisify(execFile);

interface Done {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A gateway's SSH port. */
export async function listenSsh(gateway: Gateway): Promise<number> {
  const server = createServer((socket) => gateway.onSshConnection(socket));
  const sockets = track(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listen(server);
}

/** A new key pair in `folder`, whose public half is one of `userId`'s; returns its id. */
export async function addKey(db: Db, folder: string, userId: string, type = "ed25519"): Promise<string> {
  await run("ssh-keygen", ["-q", "-t", type, "-N", "", "-C", "", "-f", join(folder, "key")]);
  return insertKey(db, (await readFile(join(folder, "key.pub"), "utf8")).trim(), userId);
}

async function insertKey(db: Db, line: string, userId: string): Promise<string> {
  const key = { id: newId(), user_id: userId, name: "laptop", type: line.split(" ")[0] ?? "" };
  await db
    .insertInto("identity_user")
    .values({ id: userId, email: `${userId}@example.com`, email_key: userId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db
    .insertInto("ssh_keys")
    .values({ ...key, public_key: line, fingerprint: await fingerprintOf(line) })
    .execute();
  return key.id;
}

async function fingerprintOf(line: string): Promise<string> {
  const asked = run("ssh-keygen", ["-l", "-f", "-"]);
  asked.child.stdin?.end(`${line}\n`);
  return (await asked).stdout.split(" ")[1] ?? "";
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Debian's OpenSSH client as a person has it set up: `NAME.berth` by way of the jump host, no agent, hosts that it must know. */
export function sshClient(folder: string, port: number, knownHosts: readonly string[]) {
  const config = join(folder, "config");
  const common = `  IdentityFile ${folder}/key\n  IdentitiesOnly yes\n  UserKnownHostsFile ${folder}/known_hosts\n`;
  writeFileSync(join(folder, "known_hosts"), `${knownHosts.join("\n")}\n`);
  writeFileSync(
    config,
    `Host *\n  BatchMode yes\n  StrictHostKeyChecking yes\n  GlobalKnownHostsFile /dev/null\nHost jump\n  HostName 127.0.0.1\n  Port ${port}\n  User me\n${common}Host *.berth\n  User berth\n  ProxyJump jump\n${common}`,
  );
  const begin = (program: string, args: readonly string[], input?: string): ChildProcess => {
    const child = spawn(program, args, { env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: folder }, stdio: "pipe" });
    if (input !== undefined) child.stdin.end(input);
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  return {
    config,
    /** Its input stays open. */
    begin: (...args: string[]) => follow(begin("ssh", ["-F", config, ...args])),
    ssh: (args: readonly string[], input = "") => follow(begin("ssh", ["-F", config, ...args], input)).ended,
    run: (program: string, args: readonly string[], input = "") => follow(begin(program, args, input)).ended,
  };
}

function follow(child: ChildProcess) {
  let [stdout, stderr] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const ended = once(child, "close").then(([code]): Done => ({ code, stdout, stderr }));
  return { ended, printed: () => stdout, kill: () => child.kill() };
}
