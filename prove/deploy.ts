import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { freePort } from "../server/src/testing/free-port.ts";
import { hasProxy, type ProxyName, proxyCommand } from "../server/src/testing/proxy-command.ts";
import { until } from "../testing/customer.ts";
import { removeFolder, startProduct, temporaryFolder } from "../testing/product.ts";
import { installByCompose } from "./install.ts";
import { commandBlocks } from "./machine/command-blocks.ts";
import { app, envHost, rentDeployed, timed } from "./machine/rent-deployed.ts";
import { writeProof } from "./proof-page.ts";

/**
 * The first rental of the browser tests through TLS, wildcard names and a proxy that runs the shipped file, with TRUST_PROXY:
 * nginx, and without `quick` Caddy and the whole of compose.yaml too. Needs their Debian packages, openssl and, for the last,
 * a Docker Engine.
 */
export async function proveDeploy({ quick }: { quick: boolean }): Promise<void> {
  const ways: readonly Way[] = [
    { name: "nginx", rent: () => rentThrough("nginx") },
    { name: "Caddy", rent: () => rentThrough("Caddy") },
    { name: "compose.yaml", rent: async () => (await installByCompose()).isRented },
  ];
  const outcomes: string[] = [];
  for (const { name, rent } of quick ? ways.slice(0, 1) : ways) {
    const [isRented, seconds] = await timed(rent);
    outcomes.push(`${name} ${isRented ? "passed" : "failed"} after ${seconds.toFixed(0)} s`);
    console.log(outcomes.at(-1));
    if (!isRented) process.exitCode = 1;
  }
  const text = "the first rental in a browser, through TLS, wildcard names and TRUST_PROXY";
  if (!quick && process.exitCode !== 1)
    writeProof("deploy", `\`npm run prove -- deploy\`: ${text}: ${outcomes.join(", ")}.`);
}

interface Way {
  readonly name: string;
  readonly rent: () => Promise<boolean>;
}

async function rentThrough(name: ProxyName): Promise<boolean> {
  if (!hasProxy(name)) {
    console.error(`${name}: there is none on this machine`);
    return false;
  }
  const folder = temporaryFolder();
  const [port, httpPort, serverPort] = [await freePort(), await freePort(), await freePort()];
  const url = `https://${app}:${port}`;
  const env = { APP_URL: url, ENV_HOST: envHost, TRUST_PROXY: "127.0.0.1", PAYMENTS: "embedded" };
  const product = await startProduct({ port: serverPort, env });
  const ports = { appPorts: [serverPort], environmentPorts: [serverPort] };
  makeCertificate(folder);
  const command = proxyCommand(name, { folder, port, httpPort, ...ports });
  const proxy = spawn(command.program, command.args, { stdio: "ignore", env: command.env });
  try {
    await until("JupyterLab to be prepared", () => isPrepared(serverPort, new URL(url).host), 300_000);
    const certificate = readFileSync(join(folder, "fullchain.pem"), "utf8");
    return await rentDeployed({ url, address: "127.0.0.1", certificate });
  } finally {
    proxy.kill("SIGQUIT");
    await product.stop();
    removeFolder(product.dataDir);
    removeFolder(folder);
  }
}

/** By the commands of the operator's page: an authority for tests, and its certificate of both names. */
function makeCertificate(folder: string): void {
  const blocks = commandBlocks("docs/operate/install.md", "The machine");
  const commands = blocks.filter((block) => /BERTH_APP=|openssl req/.test(block)).join("\n");
  execFileSync("sh", ["-ec", commands.replaceAll("/etc/berth/tls", folder)], { stdio: "ignore" });
}

/** Asked at the server itself, by the app's name. */
async function isPrepared(port: number, host: string): Promise<boolean> {
  const asked = get({ host: "127.0.0.1", port, path: "/capacity", headers: { host }, agent: false });
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const { types } = (await json(response)) as { types: readonly { type: string; state: string }[] };
  return types.some(({ type, state }) => type === "jupyter" && state === "ready");
}
