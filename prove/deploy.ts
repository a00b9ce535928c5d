import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { hasProxy, type ProxyName, proxyCommand } from "../server/src/testing/proxy-command.ts";
import { until } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import { removeFolder, startProduct, temporaryFolder } from "../testing/product.ts";

/** The names in the files of `deploy/`. */
const [app, envHost] = ["berth.example", "berth-run.example"];
const playwright = join(import.meta.dirname, "../node_modules/.bin/playwright");

/**
 * The first rental of the browser tests through TLS, wildcard names and a proxy that runs the shipped file, with TRUST_PROXY:
 * nginx, and without `quick` Caddy too. Needs their Debian packages and openssl.
 */
export async function proveDeploy({ quick }: { quick: boolean }): Promise<void> {
  const proxies: readonly ProxyName[] = quick ? ["nginx"] : ["nginx", "Caddy"];
  for (const name of proxies) {
    if (!hasProxy(name)) {
      console.error(`${name}: there is none on this machine`);
      process.exitCode = 1;
      continue;
    }
    const began = performance.now();
    const code = await rentThrough(name);
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    console.log(`${name}: the first rental ${code === 0 ? "passed" : "failed"} after ${seconds} s`);
    if (code !== 0) process.exitCode = 1;
  }
}

async function rentThrough(name: ProxyName): Promise<number> {
  const folder = temporaryFolder();
  const [port, httpPort, serverPort] = [await freePort(), await freePort(), await freePort()];
  const url = `https://${app}:${port}`;
  const env = { APP_URL: url, ENV_HOST: envHost, TRUST_PROXY: "127.0.0.1", PAYMENTS: "embedded" };
  const product = await startProduct({ port: serverPort, env });
  const ports = { appPorts: [serverPort], environmentPorts: [serverPort] };
  const publicKeyHash = makeCertificate(folder);
  const command = proxyCommand(name, { folder, port, httpPort, ...ports });
  const proxy = spawn(command.program, command.args, { stdio: "ignore", env: command.env });
  try {
    await until("JupyterLab to be prepared", () => isPrepared(serverPort, new URL(url).host), 300_000);
    const test = ["test", "--config", "e2e/playwright.config.ts", "e2e/first-rental.spec.ts"];
    const shell = { ...environment.shell, CHROMIUM: environment.chromium };
    const deployed = { DEPLOYED_URL: url, DEPLOYED_ENV_HOST: envHost, DEPLOYED_KEY: publicKeyHash };
    const run = spawn(playwright, test, { stdio: "inherit", env: { ...shell, ...deployed } });
    const [code] = await once(run, "exit");
    return code ?? 1;
  } finally {
    proxy.kill("SIGQUIT");
    await product.stop();
    removeFolder(product.dataDir);
    removeFolder(folder);
  }
}

/** A certificate of both names; returns the hash of its public key as Chromium compares it. */
function makeCertificate(folder: string): string {
  const names = `subjectAltName=DNS:${app},DNS:*.${envHost}`;
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "privkey.pem"];
  const made = ["req", "-x509", ...key, "-out", "fullchain.pem", "-subj", "/CN=berth", "-addext", names];
  execFileSync("openssl", made, { cwd: folder, stdio: "ignore" });
  const hash = "openssl x509 -in fullchain.pem -pubkey -noout | openssl pkey -pubin -outform der";
  return execFileSync("sh", ["-c", `${hash} | openssl dgst -sha256 -binary | base64`], {
    cwd: folder,
    encoding: "utf8",
  }).trim();
}

/** Asked at the server itself, by the app's name. */
async function isPrepared(port: number, host: string): Promise<boolean> {
  const asked = get({ host: "127.0.0.1", port, path: "/capacity", headers: { host }, agent: false });
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const { types } = (await json(response)) as { types: readonly { type: string; state: string }[] };
  return types.some(({ type, state }) => type === "jupyter" && state === "ready");
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
