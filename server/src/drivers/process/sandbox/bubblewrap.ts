import { execFile } from "node:child_process";
import { lstat, mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { asUser, unusedUser } from "./as-user.ts";
import type { Sandbox, View } from "./sandbox.ts";

const run = promisify(execFile);

interface FoundSandbox {
  readonly sandbox: Sandbox;
  /** The user outside, and its group, that runs have and homes belong to; undefined: the server's own. */
  readonly user: number | undefined;
}

/**
 * Runs bubblewrap once, because many containers and kernels forbid its user namespaces. Undefined where it does not work. A
 * run sees the `passwd` and `group` of `folder`. With a server that is root runs have a user of their own, where that works
 * (G315).
 */
export async function findBubblewrap(
  folder: string,
  { isRoot = process.getuid?.() === 0 } = {},
): Promise<FoundSandbox | undefined> {
  await mkdir(folder, { recursive: true });
  // The second name is that of the images, which people sign in with over SSH (G404).
  const users = ["user", "berth"].map((name) => `${name}:x:1000:1000::/home/user:/bin/bash\n`);
  await writeFile(join(folder, "passwd"), users.join(""));
  await writeFile(join(folder, "group"), "user:x:1000:\n");
  const stdout = await run("/bin/sh", ["-c", "command -v bwrap"]).then(
    (answer) => answer.stdout,
    () => "",
  );
  const program = stdout.trim();
  if (program === "") return undefined;
  // User namespaces inside a run have had most kernel vulnerabilities; older versions cannot forbid them.
  const sandboxes = [[program, "--disable-userns"], [program]].map(bubblewrap);
  const user = await unusedUser();
  const candidates = [
    ...(isRoot ? sandboxes.map((sandbox) => ({ sandbox: asUser(program, user, sandbox), user })) : []),
    ...sandboxes.map((sandbox) => ({ sandbox, user: undefined })),
  ];
  for (const { sandbox, user } of candidates) {
    const named = withNames(sandbox, folder);
    if (await works(named)) return { sandbox: named, user };
  }
  return undefined;
}

function withNames(sandbox: Sandbox, folder: string): Sandbox {
  const names = ["passwd", "group"].map((name) => ({ path: join(folder, name), at: `/etc/${name}` }));
  return (view, command) => sandbox({ ...view, readOnly: [...names, ...view.readOnly] }, command);
}

/**
 * Has process ids of its own, and opens none of these to write it: /proc asks for no capability, so a run whose user is root
 * outside could set them.
 */
const probe = `test $$ -lt 10 || exit 1
for file in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/irq/default_smp_affinity; do
  true 2>/dev/null >> $file && exit 1
done
exit 0`;

async function works(sandbox: Sandbox): Promise<boolean> {
  const view: View = { readOnly: [], writable: [], network: true };
  const [file = "", ...args] = await sandbox(view, ["/bin/sh", "-c", probe]);
  return run(file, args, { timeout: 5_000 }).then(
    () => true,
    () => false,
  );
}

/**
 * Without `--die-with-parent`: a restart of the server must end no run. No capabilities inside; user 1000 inside is
 * outside the user that starts it.
 */
function bubblewrap(program: readonly string[]): Sandbox {
  return async ({ readOnly, writable, network, infoFd }, command) => [
    ...program,
    ...(infoFd === undefined ? [] : ["--info-fd", String(infoFd)]),
    ...["--unshare-user", "--uid", "1000", "--gid", "1000"],
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "environment"],
    ...(network ? [] : ["--unshare-net"]),
    ...["--proc", "/proc", ...kernelFiles.flatMap((path) => ["--ro-bind-try", path, path])],
    ...["--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run", "--dir", "/var/tmp"],
    ...(await systemFolders()),
    ...[...settings, ...(await packageIndex())].flatMap((path) => ["--ro-bind-try", `/etc/${path}`, `/etc/${path}`]),
    ...readOnly.flatMap(({ path, at }) => ["--ro-bind", path, at ?? path]),
    ...writable.flatMap(({ path, at }) => ["--bind", path, at]),
    ...["--chdir", "/", "--"],
    ...command,
  ];
}

/** What /proc lets root set for the whole machine. bubblewrap covers them only where their folder can be written. */
const kernelFiles = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr", "pressure"].map(
  (name) => `/proc/${name}`,
);

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
