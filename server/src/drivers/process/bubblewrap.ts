import { execFile } from "node:child_process";
import { lstat, mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The files and the network that one run sees. `path` is outside; `at` is the path inside, by default the same. */
interface View {
  readonly readOnly: readonly { readonly path: string; readonly at?: string }[];
  readonly writable: readonly { readonly path: string; readonly at: string }[];
  readonly network: boolean;
  /** A file descriptor on which bubblewrap writes the id of the sandbox's first process. */
  readonly infoFd?: number;
}

/** Returns the command line that runs a command with this view. */
export type Sandbox = (view: View, command: readonly string[]) => Promise<readonly string[]>;

/**
 * Runs bubblewrap once, because many containers and kernels forbid its user namespaces. Undefined where it does not work. A
 * run sees the `passwd` and `group` of `folder`.
 */
export async function findBubblewrap(folder: string): Promise<Sandbox | undefined> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "passwd"), "user:x:1000:1000::/home/user:/bin/bash\n");
  await writeFile(join(folder, "group"), "user:x:1000:\n");
  try {
    const { stdout } = await run("/bin/sh", ["-c", "command -v bwrap"]);
    const program = stdout.trim();
    // User namespaces inside a run have had most kernel vulnerabilities; older versions cannot forbid them.
    const closed = bubblewrap([program, "--disable-userns"], folder);
    if (await works(closed)) return closed;
    const open = bubblewrap([program], folder);
    return (await works(open)) ? open : undefined;
  } catch {
    return undefined;
  }
}

async function works(sandbox: Sandbox): Promise<boolean> {
  const view: View = { readOnly: [], writable: [], network: true };
  const [file = "", ...args] = await sandbox(view, ["/bin/sh", "-c", "test $$ -lt 10"]);
  return run(file, args, { timeout: 5_000 }).then(
    () => true,
    () => false,
  );
}

/**
 * Without `--die-with-parent`: a restart of the server must end no run. No capabilities inside; user 1000 inside is the
 * server's user outside.
 */
function bubblewrap(program: readonly string[], folder: string): Sandbox {
  return async ({ readOnly, writable, network, infoFd }, command) => [
    ...program,
    ...(infoFd === undefined ? [] : ["--info-fd", String(infoFd)]),
    ...["--unshare-user", "--uid", "1000", "--gid", "1000"],
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "environment"],
    ...(network ? [] : ["--unshare-net"]),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run", "--dir", "/var/tmp"],
    ...(await systemFolders()),
    ...[...settings, ...(await packageIndex())].flatMap((path) => ["--ro-bind-try", `/etc/${path}`, `/etc/${path}`]),
    ...["passwd", "group"].flatMap((name) => ["--ro-bind", join(folder, name), `/etc/${name}`]),
    ...readOnly.flatMap(({ path, at }) => ["--ro-bind", path, at ?? path]),
    ...writable.flatMap(({ path, at }) => ["--bind", path, at]),
    ...["--chdir", "/", "--"],
    ...command,
  ];
}

/**
 * Files of /etc for names, certificates, time and the shell; none that is a secret or names other users. Only the public part
 * of TLS: with a server that is root, a run could read the machine's private keys.
 */
const settings = [
  ...["resolv.conf", "hosts", "nsswitch.conf", "protocols", "services"],
  ...["ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates"],
  ...["pki/ca-trust", "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf"],
  ...["localtime", "timezone", "mime.types", "fonts", "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"],
  ...["bash.bashrc", "inputrc", "terminfo"],
];

/** The machine's settings of pip, unless they have a password. */
async function packageIndex(): Promise<string[]> {
  const text = await readFile("/etc/pip.conf", "utf8").catch(() => "");
  return hasCredentials(text) ? [] : ["pip.conf"];
}

/** Whether a URL in the text has a user, a password or a token. Exported for its test. */
export function hasCredentials(text: string): boolean {
  return /:\/\/[^\s/]*@/.test(text);
}

async function systemFolders(): Promise<string[]> {
  const mounts = await Promise.all(
    ["/bin", "/sbin", "/lib", "/lib32", "/lib64"].map(async (path) => {
      const entry = await lstat(path).catch(() => undefined);
      if (!entry) return [];
      return entry.isSymbolicLink() ? ["--symlink", await readlink(path), path] : ["--ro-bind", path, path];
    }),
  );
  return ["--ro-bind", "/usr", "/usr", ...mounts.flat()];
}
