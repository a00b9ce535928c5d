import { execFile } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { findBubblewrap, hasCredentials } from "./bubblewrap.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-sandbox-"));
afterAll(() => rmSync(folder, { recursive: true }));
const found = await findBubblewrap(folder);

test.skipIf(!found)("a run sees certificates and names in /etc, but no keys and no settings of others", async () => {
  expect(
    await inside("ls /etc /etc/ssl; cat /etc/gitconfig /etc/profile /etc/shadow 2>&1 | grep -c 'No such file'"),
  ).toMatch(/\ncerts\n(openssl\.cnf\n)?3\n$/);
  expect(await inside("test -s /etc/ssl/certs/ca-certificates.crt || test -s /etc/pki/tls/cert.pem; echo $?")).toBe(
    "0\n",
  );
});

test.skipIf(!found)("a run cannot create a user namespace, whatever its user may outside", async () => {
  expect(await inside("unshare --user true 2>&1 || echo refused")).toMatch(/refused\n$/);
});

/** Files of /proc that set something of the whole machine; each that could be opened to be written. */
const openKernelFiles = `find /proc -path '/proc/[0-9]*' -prune -o -type f -perm /222 -print 2>/dev/null | while read -r file; do
  true 2>/dev/null >> "$file" && echo "open: $file"; done; cat /proc/sys/kernel/core_pattern > /dev/null && echo read`;

test.skipIf(!found)("a run opens no setting of the machine's kernel to write it, whoever the server is", async () => {
  expect(await inside(openKernelFiles)).toBe("read\n");
  if (process.getuid?.() !== 0) return;
  // Where no user can be made for runs, and where the server is not root.
  const plain = await findBubblewrap(folder, { isRoot: false });
  chmodSync(folder, 0o755);
  for (const uid of [0, 12_345]) {
    const as = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
    expect(await inside(openKernelFiles, plain, as)).toBe("read\n");
  }
});

test.skipIf(!found || process.getuid?.() !== 0)(
  "a run of a server that is root is no process of root outside",
  async () => {
    const home = join(folder, "home");
    mkdirSync(home);
    chownSync(home, found?.user ?? 0, found?.user ?? 0);
    const view = { readOnly: [], writable: [{ path: home, at: "/home/user" }], network: false };
    const [file = "", ...args] =
      (await found?.sandbox(view, ["/bin/sh", "-c", "id -u; echo its > /home/user/file"])) ?? [];
    expect((await promisify(execFile)(file, args)).stdout).toBe("1000\n");
    expect(found?.user).toBeGreaterThan(1000);
    expect(statSync(join(home, "file")).uid).toBe(found?.user);
  },
);

test.each([
  ["[global]\nindex-url = https://index.example/simple\n", false],
  ["[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n", false],
  ["[global]\nindex-url = https://ada:secret@index.example/simple\n", true],
  ["[global]\nextra-index-url =\n  https://index.example/a\n  http://token@index.example/b@1\n", true],
])("pip.conf %j: credentials %s", (text, expected) => {
  expect(hasCredentials(text)).toBe(expected);
});

async function inside(script: string, by = found, as: readonly string[] = []): Promise<string> {
  if (!by) throw new Error("no bubblewrap");
  const view = { readOnly: [], writable: [], network: false };
  const [file = "", ...args] = [...as, ...(await by.sandbox(view, ["/bin/sh", "-c", script]))];
  return (await promisify(execFile)(file, args)).stdout;
}
