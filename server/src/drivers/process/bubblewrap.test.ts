import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { findBubblewrap, hasCredentials } from "./bubblewrap.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-sandbox-"));
afterAll(() => rmSync(folder, { recursive: true }));
const sandbox = await findBubblewrap(folder);

test.skipIf(!sandbox)("a run sees certificates and names in /etc, but no keys and no settings of others", async () => {
  expect(
    await inside("ls /etc /etc/ssl; cat /etc/gitconfig /etc/profile /etc/shadow 2>&1 | grep -c 'No such file'"),
  ).toMatch(/\ncerts\n(openssl\.cnf\n)?3\n$/);
  expect(await inside("test -s /etc/ssl/certs/ca-certificates.crt || test -s /etc/pki/tls/cert.pem; echo $?")).toBe(
    "0\n",
  );
});

test.skipIf(!sandbox)("a run cannot create a user namespace, whatever its user may outside", async () => {
  expect(await inside("unshare --user true 2>&1 || echo refused")).toMatch(/refused\n$/);
});

test.each([
  ["[global]\nindex-url = https://index.example/simple\n", false],
  ["[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n", false],
  ["[global]\nindex-url = https://ada:secret@index.example/simple\n", true],
  ["[global]\nextra-index-url =\n  https://index.example/a\n  http://token@index.example/b@1\n", true],
])("pip.conf %j: credentials %s", (text, expected) => {
  expect(hasCredentials(text)).toBe(expected);
});

async function inside(script: string): Promise<string> {
  if (!sandbox) throw new Error("no bubblewrap");
  const view = { readOnly: [], writable: [], network: false };
  const [file = "", ...args] = await sandbox(view, ["/bin/sh", "-c", script]);
  return (await promisify(execFile)(file, args)).stdout;
}
