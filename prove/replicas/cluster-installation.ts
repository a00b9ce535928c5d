import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Db, openDatabase } from "../../server/src/database/database.ts";
import { silentLogger } from "../../server/src/logging/create-logger.ts";
import { environment } from "../../testing/environment.ts";
import { startEndpointsEdge } from "./endpoints-edge.ts";
import { type Cluster, clusterOf } from "./kubectl.ts";

const root = join(import.meta.dirname, "../..");
const chart = join(root, "deploy/helm/berth");

export const roles = ["worker", "api", "gateway"] as const;
export type Role = (typeof roles)[number];

export interface ClusterInstallation {
  readonly cluster: Cluster;
  /** Of the app, at the edge. */
  readonly url: string;
  readonly port: number;
  readonly db: Db;
  /** `helm upgrade` with another annotation of the pods, until all new ones are ready. */
  upgrade(): Promise<void>;
  /** Ends everything; nothing of it stays. */
  remove(): Promise<void>;
}

/**
 * The chart with two replicas of each role and a PostgreSQL, in a namespace of its own under Pod Security `restricted`,
 * behind the shipped nginx.conf on this machine. The nodes must have the images. `without`: a node that the database is not on.
 */
export async function installInCluster(without: string | undefined): Promise<ClusterInstallation> {
  const cluster = clusterOf(`berth-prove-${randomBytes(4).toString("hex")}`);
  const { namespace, kubectl, helm } = cluster;
  await using resources = new AsyncDisposableStack();
  for (const each of [namespace, `${namespace}-environments`]) {
    await kubectl(["create", "namespace", each]);
    resources.defer(async () => void (await kubectl(["delete", "namespace", each, "--wait=false"])));
    await kubectl(["label", "namespace", each, "pod-security.kubernetes.io/enforce=restricted"]);
  }
  const password = randomBytes(16).toString("hex");
  await makeSecret(cluster, password);
  await kubectl(["apply", "--filename", "-"], JSON.stringify(postgres(without)));
  await kubectl(["wait", "--for=condition=Ready", "pod/postgres", "--timeout=120s"]);
  const address = await kubectl(["get", "pod", "postgres", "--output=jsonpath={.status.podIP}"]);
  const edge = await startEndpointsEdge(cluster, "berth");
  resources.defer(edge.stop);
  const values = (annotation: string) => JSON.stringify(valuesOf(edge.url, annotation));
  const wait = ["--wait", "--timeout", "10m", "--values", "-"];
  resources.defer(async () => void (await helm(["uninstall", "berth", "--wait"]).catch(() => {})));
  await helm(["install", "berth", chart, ...wait], values("0"));
  const database = await openDatabase(
    { connectionString: `postgres://berth:${password}@${address}/berth` },
    silentLogger,
    { keep: true },
  );
  resources.defer(database.close);
  const stack = resources.move();
  let upgrades = 0;
  return {
    cluster,
    ...{ url: edge.url, port: edge.port, db: database.db },
    upgrade: async () => void (await helm(["upgrade", "berth", chart, ...wait], values(String(++upgrades)))),
    remove: () => stack.disposeAsync(),
  };
}

async function makeSecret({ kubectl }: Cluster, password: string): Promise<void> {
  const secret = {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "berth" } },
    stringData: {
      DATABASE_URL: `postgres://berth:${password}@postgres/berth`,
      IDENTITY_SECRET: randomBytes(32).toString("hex"),
      password,
    },
  };
  await kubectl(["apply", "--filename", "-"], JSON.stringify(secret));
}

function valuesOf(url: string, annotation: string) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const unlimited = 1_000_000;
  return {
    image: { repository: "docker.io/library/berth", tag: version, pullPolicy: "Never" },
    settings: {
      ...{ APP_URL: url, ENV_HOST: "localhost", KUBERNETES_IMAGES: "jupyter=docker.io/berth/jupyter:local" },
      ...{ SLOTS: 11, NEWCOMER_SHARE: 1, LOG_LEVEL: "info" },
      ...(environment.nodes && { KUBERNETES_NODE_SELECTOR: environment.nodes }),
      ...{ REQUESTS_PER_MINUTE: unlimited, ANONYMOUS_PER_MINUTE: unlimited, ORDERS_PER_MINUTE: unlimited },
      ...{ NETWORK_MAILS_PER_HOUR: unlimited, NETWORK_MAILS_PER_DAY: unlimited },
    },
    // Room for the notebooks on small machines.
    roles: Object.fromEntries(roles.map((role) => [role, { resources: { requests: { cpu: "150m" } } }])),
    podAnnotations: { "example/upgrade": annotation },
    nodeSelector: nodeSelector(),
  };
}

/** TEST_NODES as a selector: `pool=services`. */
function nodeSelector(): Readonly<Record<string, string>> {
  const [name, value] = environment.nodes?.split("=") ?? [];
  return name && value ? { [name]: value } : {};
}

function notOn(node: string) {
  const matchFields = [{ key: "metadata.name", operator: "NotIn", values: [node] }];
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } } };
}

/** By prove/machine/Dockerfile; its files are gone with it. */
function postgres(without: string | undefined) {
  const labels = { app: "postgres" };
  const container = {
    ...{ name: "postgres", image: "docker.io/berth-prove/postgres:latest", imagePullPolicy: "Never" },
    args: ["-c", "max_connections=400", "-c", "fsync=off"],
    env: [
      { name: "POSTGRES_USER", value: "berth" },
      { name: "POSTGRES_PASSWORD_FILE", value: "/run/password/password" },
    ],
    volumeMounts: [{ name: "password", mountPath: "/run/password" }],
    readinessProbe: {
      exec: { command: ["pg_isready", "--host=127.0.0.1", "--username=berth"] },
      periodSeconds: 2,
      timeoutSeconds: 30,
    },
    resources: { requests: { cpu: "200m" } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  };
  const pod = {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "postgres", labels } },
    spec: {
      automountServiceAccountToken: false,
      nodeSelector: nodeSelector(),
      ...(without !== undefined && { affinity: notOn(without) }),
      securityContext: { runAsNonRoot: true, runAsUser: 999, fsGroup: 999, seccompProfile: { type: "RuntimeDefault" } },
      containers: [container],
      volumes: [{ name: "password", secret: { secretName: "berth", items: [{ key: "password", path: "password" }] } }],
    },
  };
  const service = {
    ...{ apiVersion: "v1", kind: "Service", metadata: { name: "postgres" } },
    spec: { selector: labels, ports: [{ port: 5432 }] },
  };
  return { apiVersion: "v1", kind: "List", items: [pod, service] };
}
