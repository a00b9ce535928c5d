import { spawn } from "node:child_process";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../../server/src/testing/free-port.ts";
import { until } from "../../testing/customer.ts";
import { environment } from "../../testing/environment.ts";
import { removeFolder, temporaryFolder } from "../../testing/product.ts";
import { pythonTool } from "../../testing/python-tool.ts";
import { end, installProxy } from "../processes.ts";

/** The peer of launches and reads. */
export const hubPackage = "jupyterhub==6.1.1";
/** That of our own lock. */
const lab = "jupyterlab==4.6.6";
const longestMs = 300_000;
const adminToken = "0123456789abcdef0123456789abcdef";

export type Hub = Awaited<ReturnType<typeof startHub>>;

interface HubOptions {
  readonly packages?: readonly string[];
  /** Lines of its configuration; by default its servers are processes of this machine. */
  readonly settings?: (hubPort: number, folder: string) => string;
  readonly env?: Readonly<Record<string, string>>;
}

/** JupyterHub behind its proxy on this machine. */
export async function startHub(
  stack: AsyncDisposableStack,
  { packages = [lab], settings = localServers, env = {} }: HubOptions = {},
) {
  const folder = temporaryFolder();
  stack.defer(async () => removeFolder(folder));
  const [port, hubPort, proxyApi] = [await freePort(), await freePort(), await freePort()];
  const program = join(pythonTool([hubPackage, ...packages]), "jupyterhub");
  const path = join(folder, "jupyterhub_config.py");
  writeFileSync(path, `${basicSettings(port, hubPort, proxyApi)}${settings(hubPort, folder)}`);
  const { PATH, HOME } = environment.shell;
  const logPath = join(folder, "log");
  const log = openSync(logPath, "w");
  const child = spawn(program, ["--config", path], {
    cwd: folder,
    env: { ...(HOME && { HOME }), PATH: `${dirname(program)}:${PATH}`, ...env },
    stdio: ["ignore", log, log],
  });
  stack.defer(() => end(child));
  stack.defer(async () => {
    if (child.exitCode !== null) console.error(readFileSync(logPath, "utf8"));
  });
  const ask = (path: string, method = "GET", token = adminToken) =>
    fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { authorization: `token ${token}` } });
  // Asked directly, because the proxy logs each failure.
  const api = `http://127.0.0.1:${hubPort}/hub/api/`;
  await until("the hub", async () => (await fetch(api).catch(() => undefined))?.ok && (await ask("/hub/api/")).ok);
  return {
    port,
    ask,
    /** Milliseconds from the requests of so many servers, at once, to the last first 200 through the proxy; then ends them. */
    async launchMany(count: number, pollMs: number): Promise<number> {
      const users = Array.from({ length: count }, (_, n) => `user-${n}`);
      for (const user of users) await ask(`/hub/api/users/${user}`, "POST");
      const began = performance.now();
      await Promise.all(users.map((user) => launch(ask, user, pollMs)));
      const tookMs = performance.now() - began;
      await Promise.all(users.map((user) => endServer(ask, user)));
      return tookMs;
    },
  };
}

type Ask = (path: string, method?: string, token?: string) => Promise<Response>;

async function launch(ask: Ask, user: string, pollMs: number): Promise<void> {
  const { status } = await ask(`/hub/api/users/${user}/server`, "POST");
  if (status !== 201 && status !== 202) throw new Error(`the hub answered ${status}`);
  const until = performance.now() + longestMs;
  while ((await ask(`/user/${user}/api`)).status !== 200) {
    if (performance.now() > until) throw new Error(`the hub's server of ${user} did not come: measure again`);
    await wait(pollMs);
  }
}

async function endServer(ask: Ask, user: string): Promise<void> {
  while ((await ask(`/hub/api/users/${user}/server`, "DELETE")).status !== 204) await wait(250);
}

function basicSettings(port: number, hubPort: number, proxyApi: number): string {
  return `
c.JupyterHub.bind_url = "http://127.0.0.1:${port}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:${hubPort}"
c.JupyterHub.concurrent_spawn_limit = 0
c.JupyterHub.log_level = "ERROR"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:${proxyApi}"
c.ConfigurableHTTPProxy.command = ["${process.execPath}", "${installProxy()}"]
c.ConfigurableHTTPProxy.log_level = "error"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.Spawner.start_timeout = 300
c.Spawner.http_timeout = 300
c.JupyterHub.services = [{"name": "bench", "api_token": "${adminToken}"}]
c.JupyterHub.load_roles = [{"name": "bench", "services": ["bench"], "scopes": ["admin:users", "admin:servers", "access:servers", "tokens"]}]
`;
}

function localServers(_: number, folder: string): string {
  return `
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "${folder}/homes/{username}"
c.Spawner.args = ["--allow-root"]
# Two servers that start at once may draw the same port, and one of them then never comes.
import itertools, socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(100)]
ports = itertools.cycle([each.getsockname()[1] for each in sockets])
for each in sockets:
    each.close()
c.Spawner.pre_spawn_hook = lambda spawner: setattr(spawner, "port", next(ports))
`;
}
