import { execFileSync } from "node:child_process";
import { type Hub, hubPackage, startHub } from "./jupyterhub.ts";

const spawner = "jupyterhub-kubespawner==7.1.0";
const hubImage = "berth-bench/jupyterhub:local";

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
export function startPodHub(stack: AsyncDisposableStack, options: HubOptions): Promise<Hub> {
  const { kubeconfig, namespace, address, nodeSelector } = options;
  const settings = (hubPort: number) => `
c.JupyterHub.hub_bind_url = "http://0.0.0.0:${hubPort}"
c.JupyterHub.hub_connect_url = "http://${address}:${hubPort}"
c.JupyterHub.spawner_class = "kubespawner.KubeSpawner"
c.KubeSpawner.namespace = "${namespace}"
c.KubeSpawner.image = "${hubImage}"
c.KubeSpawner.image_pull_policy = "IfNotPresent"
c.KubeSpawner.cmd = ["/opt/berth/runtime/bin/jupyterhub-singleuser"]
c.KubeSpawner.node_selector = ${JSON.stringify(nodeSelector)}
c.KubeSpawner.cpu_guarantee = 0.1
`;
  return startHub(stack, { packages: [spawner], settings, env: { KUBECONFIG: kubeconfig } });
}
