import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { until } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import { freePort } from "../testing/free-port.ts";
import { hubPackage, installHub } from "./jupyterhub.ts";
import { end, installProxy } from "./processes.ts";

const pollMs = 250;
const spawner = "jupyterhub-kubespawner==7.1.0";
export const hubImage = "berth-bench/jupyterhub:local";
const adminToken = "0123456789abcdef0123456789abcdef";

/** Builds the image of JupyterLab with JupyterHub's single-user server, which must be in the nodes before the bench. */
export function buildHubImage(): void {
  const input = `FROM berth/jupyter:local
USER 0
RUN /opt/berth/runtime/bin/pip install --quiet ${hubPackage}
USER 1000:1000
ENTRYPOINT []
CMD ["/opt/berth/runtime/bin/jupyterhub-singleuser"]
`;
  execFileSync("docker", ["build", "--quiet", "--tag", hubImage, "-"], {
    input,
    stdio: ["pipe", "inherit", "inherit"],
  });
}

interface HubOptions {
  readonly kubeconfig: string;
  readonly namespace: string;
  /** Of this machine, for pods. */
  readonly address: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/** JupyterHub on this machine, whose servers are pods by its KubeSpawner, without volumes; its proxy leads to them. */
export async function startHub(stack: AsyncDisposableStack, options: HubOptions) {
  const directory = mkdtempSync(join(tmpdir(), "berth-bench-"));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const [port, hubPort, proxyApi] = [await freePort(), await freePort(), await freePort()];
  const program = installHub([spawner]);
  const settings = join(directory, "jupyterhub_config.py");
  writeFileSync(settings, settingsOf(options, { port, hubPort, proxyApi }));
  const { PATH, HOME } = environment.shell;
  const child = spawn(program, ["--config", settings], {
    cwd: directory,
    env: { ...(HOME && { HOME }), PATH: `${dirname(program)}:${PATH}`, KUBECONFIG: options.kubeconfig },
    stdio: ["ignore", "inherit", "inherit"],
  });
  stack.defer(() => end(child));
  const ask = (path: string, method = "GET") =>
    fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { authorization: `token ${adminToken}` } });
  await until("the hub", async () => (await ask("/hub/api/").catch(() => undefined))?.ok);
  return {
    /** Milliseconds from the request of a server to its first 200 through the proxy. */
    async launch(user: string): Promise<number> {
      await ask(`/hub/api/users/${user}`, "POST");
      const began = performance.now();
      const { status } = await ask(`/hub/api/users/${user}/server`, "POST");
      if (status !== 201 && status !== 202) throw new Error(`the hub answered ${status}`);
      while ((await ask(`/user/${user}/api`)).status !== 200) await wait(pollMs);
      return performance.now() - began;
    },
    async end(user: string): Promise<void> {
      while ((await ask(`/hub/api/users/${user}/server`, "DELETE")).status !== 204) await wait(pollMs);
    },
  };
}

interface Ports {
  readonly port: number;
  readonly hubPort: number;
  readonly proxyApi: number;
}

function settingsOf({ namespace, address, nodeSelector }: HubOptions, { port, hubPort, proxyApi }: Ports): string {
  return `
c.JupyterHub.bind_url = "http://127.0.0.1:${port}"
c.JupyterHub.hub_bind_url = "http://0.0.0.0:${hubPort}"
c.JupyterHub.hub_connect_url = "http://${address}:${hubPort}"
c.JupyterHub.concurrent_spawn_limit = 0
c.JupyterHub.log_level = "ERROR"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:${proxyApi}"
c.ConfigurableHTTPProxy.command = ["${process.execPath}", "${installProxy()}"]
c.ConfigurableHTTPProxy.log_level = "error"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "kubespawner.KubeSpawner"
c.KubeSpawner.namespace = "${namespace}"
c.KubeSpawner.image = "${hubImage}"
c.KubeSpawner.image_pull_policy = "IfNotPresent"
c.KubeSpawner.cmd = ["/opt/berth/runtime/bin/jupyterhub-singleuser"]
c.KubeSpawner.node_selector = ${JSON.stringify(nodeSelector)}
c.KubeSpawner.cpu_guarantee = 0.1
c.KubeSpawner.start_timeout = 300
c.KubeSpawner.http_timeout = 300
c.JupyterHub.services = [{"name": "bench", "api_token": "${adminToken}"}]
c.JupyterHub.load_roles = [{"name": "bench", "services": ["bench"], "scopes": ["admin:users", "admin:servers", "access:servers"]}]
`;
}
