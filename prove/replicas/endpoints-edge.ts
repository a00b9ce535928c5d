import { spawn } from "node:child_process";
import { freePort } from "../../server/src/testing/free-port.ts";
import { nginxCommand, shippedNginx } from "../../server/src/testing/proxy-command.ts";
import { environment } from "../../testing/environment.ts";
import { removeFolder, temporaryFolder } from "../../testing/product.ts";
import type { Cluster } from "./kubectl.ts";

interface EndpointsEdge {
  /** Of the app, as browsers see it. */
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** A line for each change of a slice: the name of its Service, and its endpoints as JSON. */
const slice = '{.metadata.labels.kubernetes\\.io/service-name}{" "}{.endpoints}{"\\n"}';

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready?: boolean };
}

/** The shipped nginx.conf without TLS, which follows the ready pods of a release as an ingress controller does. */
export async function startEndpointsEdge(cluster: Cluster, release: string): Promise<EndpointsEdge> {
  const folder = temporaryFolder();
  const [port, httpPort] = [await freePort(), await freePort()];
  const ready = new Map<string, string>();
  const write = () => nginxCommand(folder, configured({ folder, port, httpPort }, release, ready));
  const { program, args, env } = write();
  const child = spawn(program, args, { env: { ...environment.shell, ...env }, stdio: "ignore" });
  const words = ["get", "endpointslices", "--watch", `--output=jsonpath=${slice}`];
  let isStopped = false;
  const following = cluster.follow(words, (line) => {
    const [service = ""] = line.split(" ", 1);
    const endpoints: readonly Endpoint[] = JSON.parse(line.slice(service.length)) ?? [];
    const found = endpoints.flatMap(({ addresses, conditions }) => (conditions.ready ? addresses : []));
    const now = found.toSorted().join(" ");
    // Without any there is nobody to ask either; the last ones answer first when they are back.
    if (isStopped || now === "" || now === ready.get(service)) return;
    ready.set(service, now);
    write();
    child.kill("SIGHUP");
  });
  return {
    url: `http://localhost:${port}`,
    port,
    async stop() {
      isStopped = true;
      following.stop();
      child.kill("SIGTERM");
      removeFolder(folder);
    },
  };
}

function configured(
  place: { readonly folder: string; readonly port: number; readonly httpPort: number },
  release: string,
  ready: ReadonlyMap<string, string>,
): string {
  // Ports that stand for the two Services in the shipped file.
  const [app, environments] = [1, 2];
  const shipped = shippedNginx({ ...place, appPorts: [app], environmentPorts: [environments] })
    .replace(`:${place.port} ssl http2;`, `:${place.port};`)
    .replaceAll(/^ *ssl_.*$/gm, "");
  const serversOf = (role: string) => {
    const pods = ready.get(`${release}-${role}`)?.split(" ") ?? [];
    return pods.map((address) => `server ${address}:3000;`).join(" ");
  };
  return shipped
    .replace(`server 127.0.0.1:${app};`, () => serversOf("api") || "server 127.0.0.1:9;")
    .replace(`server 127.0.0.1:${environments};`, () => serversOf("gateway") || "server 127.0.0.1:9;")
    .replace("berth.example berth_app;", "localhost berth_app; 127.0.0.1 berth_app;");
}
