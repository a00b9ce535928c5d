import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SshConnection } from "@berth/contract";
import { type Customer, must } from "./customer.ts";
import { environment } from "./environment.ts";

export interface Done {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  /** Files for standard input and output; without them the input is empty, and the output is kept. */
  readonly from?: string;
  readonly to?: string;
  /** Text for standard input, in place of `from`. */
  readonly input?: string;
  /** Whether standard input stays open. */
  readonly isOpen?: boolean;
}

/** OpenSSH as a person has it set up who copied what the environment's page shows. */
export interface SshClient {
  /** The name that leads to the environment. */
  readonly host: string;
  readonly config: string;
  begin(program: string, args: readonly string[], options?: RunOptions): ChildProcess;
  /** `ssh`, `scp`, `sftp` and `rsync` with the config. @throws unless it ends with 0 */
  run(program: "ssh" | "scp" | "sftp" | "rsync", args: readonly string[], options?: RunOptions): Promise<Done>;
}

/** Makes a key in `folder`, adds it to the account, and writes the config and known hosts that the API answers; `host` is the first. */
export async function openSshClient(
  url: string,
  { userId, idToken: token }: Customer,
  environmentIds: readonly string[],
  folder: string,
): Promise<SshClient> {
  const key = join(folder, "key");
  await promisify(execFile)("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "prove", "-f", key]);
  const body = { name: "", public_key: readFileSync(`${key}.pub`, "utf8").trim() };
  await must(url, "POST", `/settings/${userId}/ssh-keys`, { token, body });
  const found: SshConnection[] = [];
  for (const id of environmentIds) {
    const { reason, connection } = await must(url, "GET", `/environments/${id}/ssh`, { token });
    if (reason !== null) throw new Error(reason);
    found.push(connection);
  }
  const known = new Set(found.flatMap(({ known_hosts }) => known_hosts));
  writeFileSync(join(folder, "known_hosts"), `${[...known].join("\n")}\n`);
  const config = join(folder, "config");
  writeFileSync(config, found.map((each) => each.config).join("") + optionsOf(folder));
  return clientOf(found[0]?.host ?? "", config);
}

/** A client with a config of its own, to `host`. */
export function clientOf(host: string, config: string): SshClient {
  const begin: SshClient["begin"] = (program, args, { from, to, input, isOpen } = {}) => {
    const source = from === undefined ? "pipe" : openSync(from, "r");
    const output = to === undefined ? "pipe" : openSync(to, "w");
    const child = spawn(program, args, { env: environment.shell, stdio: [source, output, "pipe"] });
    for (const file of [source, output]) if (typeof file === "number") closeSync(file);
    if (!isOpen) child.stdin?.end(input);
    return child;
  };
  return {
    ...{ host, config, begin },
    async run(program, args, options) {
      const own = program === "rsync" ? ["-e", `ssh -F ${config}`] : ["-F", config];
      const done = await outcomeOf(begin(program, [...own, ...args], options));
      if (done.code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${done.code}: ${done.stderr}`);
      return done;
    },
  };
}

/** For every host: nothing is asked, and no other key or file of this machine is used. */
export function optionsOf(folder: string): string {
  const files = `IdentityFile ${folder}/key\n  UserKnownHostsFile ${folder}/known_hosts\n  GlobalKnownHostsFile /dev/null`;
  return `Host *\n  BatchMode yes\n  StrictHostKeyChecking yes\n  IdentitiesOnly yes\n  ${files}\n`;
}

export async function outcomeOf(child: ChildProcess): Promise<Done> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text) => (stderr += text));
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}
