import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../server/src/testing/free-port.ts";
import { orderAndPay, signUp, until } from "../testing/customer.ts";
import { removeFolder, temporaryFolder } from "../testing/product.ts";
import { clientOf, openSshClient, optionsOf, outcomeOf, type SshClient } from "../testing/ssh-client.ts";
import { type Figure, timed } from "./figure.ts";
import { launchPaid, prepared } from "./launch-stages.ts";
import { openProduct } from "./processes.ts";

const megabytes = 64;
const rounds = 6;

/**
 * Bytes through an open SSH connection to an environment, both ways, beside an OpenSSH server of this machine that the same client
 * reaches on loopback without a jump host; and what OpenSSH's own jump host (`-J` through that server) leaves of it.
 */
export async function measure(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const folder = temporaryFolder();
  stack.defer(() => removeFolder(folder));
  const zeros = join(folder, "zeros");
  writeFileSync(zeros, "");
  truncateSync(zeros, megabytes * 2 ** 20);
  const clients = [await openEnvironment(stack), ...(await openPlain(stack, folder))];
  const figures: Figure[] = [];
  for (const [name, work] of [
    ["bytes up", (client: SshClient) => upload(client, zeros)],
    ["bytes down", download],
  ] as const) {
    const rates: number[][] = clients.map(() => []);
    for (let round = 0; round < rounds; round++)
      for (const [at, client] of clients.entries())
        rates[at]?.push((megabytes * 1.048576 * 1000) / (await timed(() => work(client))));
    const [ours = [], jumped = [], peer = []] = rates;
    const beside = "OpenSSH on loopback";
    figures.push({ name: `SSH, ${name}`, unit: "MB/s", beside, samples: ours, peer });
    figures.push({ name: `OpenSSH's own jump host, ${name}`, unit: "MB/s", beside, samples: jumped, peer });
  }
  return figures;
}

/** On the connection that stays open. */
async function upload(client: SshClient, file: string): Promise<void> {
  await client.run("ssh", [client.host, "cat > /dev/null"], { from: file });
}

async function download(client: SshClient): Promise<void> {
  await client.run("ssh", [client.host, `head -c ${megabytes}M /dev/zero`], { to: "/dev/null" });
}

async function openEnvironment(stack: AsyncDisposableStack): Promise<SshClient> {
  const product = await openProduct(stack, { SSH_PORT: String(await freePort()) });
  await prepared(product);
  const customer = await signUp(product.url);
  const paid = await orderAndPay(product.url, customer, { subdomain: "shell", gpuCount: 1 });
  const { id } = await launchPaid(product.url, customer, paid);
  const folder = temporaryFolder();
  stack.defer(() => removeFolder(folder));
  return await keepOpen(stack, await openSshClient(product.url, customer, [id], folder), folder);
}

/** Debian's server with its own defaults, for this user: through itself, and directly. */
async function openPlain(stack: AsyncDisposableStack, folder: string): Promise<readonly [SshClient, SshClient]> {
  for (const name of ["key", "host_key"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)]);
  const port = await freePort();
  const settings = [
    ...[
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${folder}/host_key`,
      `AuthorizedKeysFile ${folder}/key.pub`,
    ],
    ...["StrictModes no", "PidFile none", "UsePAM no"],
  ];
  writeFileSync(join(folder, "sshd_config"), `${settings.join("\n")}\n`);
  writeFileSync(
    join(folder, "known_hosts"),
    `[127.0.0.1]:${port} ${readFileSync(join(folder, "host_key.pub"), "utf8")}`,
  );
  const config = join(folder, "config");
  const place = `  HostName 127.0.0.1\n  Port ${port}\n`;
  writeFileSync(config, `Host plain\n${place}Host jumped\n${place}  ProxyJump plain\n${optionsOf(folder)}`);
  // A server of root demands it.
  mkdirSync("/run/sshd", { recursive: true });
  const client = clientOf("plain", config);
  const server = client.begin("/usr/sbin/sshd", ["-D", "-f", join(folder, "sshd_config")]);
  stack.defer(() => void server.kill());
  await until("sshd", async () => (await outcomeOf(client.begin("ssh", ["-F", config, "plain", "true"]))).code === 0);
  const jumped = await keepOpen(stack, clientOf("jumped", config), folder);
  return [jumped, await keepOpen(stack, client, folder)];
}

/** One connection for what follows. */
async function keepOpen(stack: AsyncDisposableStack, client: SshClient, folder: string): Promise<SshClient> {
  const path = join(folder, "control");
  writeFileSync(client.config, `${readFileSync(client.config, "utf8")}  ControlPath ${path}-%n\n`);
  const master = client.begin("ssh", ["-F", client.config, "-M", "-N", client.host]);
  stack.defer(() => void master.kill());
  const isOpen = async () =>
    (await outcomeOf(client.begin("ssh", ["-F", client.config, "-O", "check", client.host]))).code === 0;
  await until("an open connection", isOpen, 60_000, 200);
  return client;
}
