import { execFile } from "node:child_process";
import { lstat, mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What one run may see of the machine. Paths outside; `at` is the path inside, the same when absent. */
interface View {
  readonly readOnly: readonly { readonly path: string; readonly at?: string }[];
  readonly writable: readonly { readonly path: string; readonly at: string }[];
  readonly network: boolean;
}

/** Wraps a command so that it sees only the view. */
export type Sandbox = (view: View, command: readonly string[]) => Promise<readonly string[]>;

/**
 * Tries bubblewrap for real: being installed says little, since many containers and kernels forbid user namespaces.
 * Undefined where it does not work. Keeps the names that a run sees for its user in `folder`.
 */
export async function findBubblewrap(folder: string): Promise<Sandbox | undefined> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "passwd"), "user:x:1000:1000::/home/user:/bin/bash\n");
  await writeFile(join(folder, "group"), "user:x:1000:\n");
  try {
    const { stdout } = await run("/bin/sh", ["-c", "command -v bwrap"]);
    const program = stdout.trim();
    // Older ones cannot forbid a run namespaces of its own, which are where most holes of kernels were.
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
 * Without `--die-with-parent`, since a restart of the server must kill nothing. No capabilities inside: user 1000
 * there is whoever runs the server outside.
 */
function bubblewrap(program: readonly string[], folder: string): Sandbox {
  return async ({ readOnly, writable, network }, command) => [
    ...program,
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
 * Names, certificates, time and the shell's looks: nothing under /etc that is a secret or says who else is here. Of TLS only
 * what is public: where the server is root, a run could read the machine's private keys beside it.
 */
const settings = [
  ...["resolv.conf", "hosts", "nsswitch.conf", "protocols", "services"],
  ...["ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates"],
  ...["pki/ca-trust", "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf"],
  ...["localtime", "timezone", "mime.types", "fonts", "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"],
  ...["bash.bashrc", "inputrc", "terminfo"],
];

/** Where the machine's package index is, unless the password of one stands in it. */
async function packageIndex(): Promise<string[]> {
  const text = await readFile("/etc/pip.conf", "utf8").catch(() => "");
  return hasCredentials(text) ? [] : ["pip.conf"];
}

/** Whether an address in it names a user, or a password or token for one. Exported for its test. */
export function hasCredentials(text: string): boolean {
  return /:\/\/[^\s/]*@/.test(text);
}

async function systemFolders(): Promise<string[]> {
  const found = await Promise.all(
    ["/bin", "/sbin", "/lib", "/lib32", "/lib64"].map(async (path) => {
      const entry = await lstat(path).catch(() => undefined);
      if (!entry) return [];
      return entry.isSymbolicLink() ? ["--symlink", await readlink(path), path] : ["--ro-bind", path, path];
    }),
  );
  return ["--ro-bind", "/usr", "/usr", ...found.flat()];
}
