import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { jumpHostKey } from "../../installation/jump-host-key.ts";
import { listen } from "../testing/setup-gateway.ts";
import { createJumpHost } from "./jump-host.ts";
import { sshClient, temporaryFolder } from "./testing/ssh-client.ts";

test.skipIf(!existsSync("/usr/bin/ssh"))(
  "G429 OpenSSH speaks AES-GCM with the jump host, and bytes stay as they were when keys are exchanged again",
  async () => {
    const { privateKey, publicKey } = jumpHostKey(randomBytes(32));
    const serve = createJumpHost(privateKey);
    const server = createServer((socket) =>
      serve(socket, {
        onHandshake() {},
        onSigned: async (fingerprint) => ({ userId: "user", keyId: "key", fingerprint }),
        onSignIn() {},
        onChannel: (_holder, _host, _port, { accept }) => void echo(accept()),
      }),
    );
    const port = await listen(server);
    const folder = temporaryFolder();
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, "key")]);
    const client = sshClient(folder, port, [`[127.0.0.1]:${port} ${publicKey}`]);
    const data = randomBytes(4 * 2 ** 20);
    writeFileSync(join(folder, "data"), data);
    const options = `-v -F ${client.config} -o RekeyLimit=1M -W demo:22 jump`;
    const command = `ssh ${options} < ${folder}/data > ${folder}/back`;
    const { code, stderr } = await client.run("sh", ["-c", command]);
    server.close();
    expect(code).toBe(0);
    expect(readFileSync(join(folder, "back")).equals(data)).toBe(true);
    const ciphers = [...stderr.matchAll(/cipher: (\S+)/g)].map(([, cipher]) => cipher);
    expect(new Set(ciphers)).toEqual(new Set(["aes128-gcm@openssh.com"]));
    // Two lines for each exchange.
    expect(ciphers.length).toBeGreaterThanOrEqual(6);
  },
  60_000,
);

function echo(channel: NodeJS.ReadWriteStream): void {
  channel.pipe(new PassThrough()).pipe(channel);
}
