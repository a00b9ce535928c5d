import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { readSettingsFile } from "../config/settings-file.ts";
import {
  fullValues,
  leastValues,
  lintChart,
  namespace,
  ofKind,
  type RenderedObject,
  renderChart,
  whyNoHelm,
  withPods,
} from "./testing/helm-chart.ts";

const deploy = (path: string) => readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), "utf8");

const namesOf = (objects: readonly RenderedObject[]) =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata?.name}`).toSorted();
interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

/** The environment of a container, with a value for each secret. */
function environmentOf({ spec }: RenderedObject): Record<string, string> {
  const secrets: Record<string, string> = {
    DATABASE_URL: "postgres://berth:password@database/berth",
    IDENTITY_SECRET: "x".repeat(32),
    SMTP_URL: "smtp://relay.example",
  };
  const variables: readonly Variable[] = spec.template.spec.containers[0].env;
  return Object.fromEntries(variables.map(({ name, value }) => [name, value ?? secrets[name] ?? "any"]));
}

test("the chart gives exactly the rights of deploy/kubernetes/access.yaml (G188)", () => {
  const rules = (text: string) => text.match(/(?<=^rules:\n)( .*\n)+/gm);
  expect(rules(deploy("helm/berth/templates/access.yaml"))).toEqual(rules(deploy("kubernetes/access.yaml")));
});

test.skipIf(whyNoHelm)(`the least values make two of each role, and nothing that was not asked for${whyNoHelm}`, () => {
  const { objects, refusal } = renderChart(leastValues);
  expect(refusal).toBe("");
  expect(namesOf(objects)).toEqual([
    `ClusterRole ${namespace}-berth-nodes`,
    `ClusterRoleBinding ${namespace}-berth-nodes`,
    "Deployment berth-api",
    "Deployment berth-gateway",
    "Deployment berth-worker",
    "Job berth-migrate",
    "NetworkPolicy berth-metrics",
    "NetworkPolicy berth-servers",
    "PodDisruptionBudget berth-api",
    "PodDisruptionBudget berth-gateway",
    "PodDisruptionBudget berth-worker",
    "Role berth",
    "Role berth-api",
    "RoleBinding berth",
    "RoleBinding berth-api",
    "Service berth-api",
    "Service berth-gateway",
    "Service berth-metrics",
    "ServiceAccount berth",
    "ServiceAccount berth-api",
  ]);
  expect(ofKind(objects, "Deployment").map(({ spec }) => spec.replicas)).toEqual([2, 2, 2]);
  expect(lintChart(leastValues)).toMatchObject({ status: 0 });
});

test.skipIf(whyNoHelm)(
  `each role has an account of its own or none, with rights where environments are and their Secrets are not (G313)${whyNoHelm}`,
  () => {
    const accounts = (environments: string) => {
      const { objects } = renderChart({ ...leastValues, environments: { namespace: environments } });
      const pods = ofKind(objects, "Deployment").map(({ spec }) => spec.template.spec);
      expect(pods.map(({ serviceAccountName }) => serviceAccountName)).toEqual(["berth-api", undefined, "berth"]);
      const rights = [...ofKind(objects, "Role"), ...ofKind(objects, "RoleBinding")];
      const bound = ofKind(objects, "RoleBinding").flatMap(({ subjects }) => subjects);
      expect(bound.map((each) => each.namespace)).toEqual([namespace, namespace]);
      return [...new Set(rights.map(({ metadata }) => metadata?.namespace))];
    };
    expect(accounts("")).toEqual([`${namespace}-environments`]);
    expect(accounts(namespace)).toEqual([namespace]);
  },
);

test.skipIf(whyNoHelm)(`every switch makes its object${whyNoHelm}`, () => {
  const { objects, refusal } = renderChart(fullValues, "shop");
  expect(refusal).toBe("");
  const added = [
    "ConfigMap shop-berth-catalogue",
    "HTTPRoute shop-berth-api",
    "HTTPRoute shop-berth-gateway",
    "HorizontalPodAutoscaler shop-berth-gateway",
    "Ingress shop-berth",
    "ServiceMonitor shop-berth",
  ];
  expect(namesOf(objects)).toEqual(expect.arrayContaining(added));
  const [gateway] = ofKind(objects, "Deployment").filter(({ metadata }) => metadata?.name === "shop-berth-gateway");
  expect(gateway?.spec.replicas, "the autoscaler's").toBeUndefined();
  const [ingress] = ofKind(objects, "Ingress");
  expect(ingress?.spec.rules.map(({ host }: { host: string }) => host).toSorted()).toEqual([
    "*.berth-run.example",
    "berth.example",
  ]);
  expect(lintChart(fullValues)).toMatchObject({ status: 0 });
});

test.skipIf(whyNoHelm)(`each process starts with the settings that it is given${whyNoHelm}`, () => {
  const { objects } = renderChart({ ...fullValues, catalogue: {} });
  for (const deployment of ofKind(objects, "Deployment")) {
    const { variables, warnings } = readSettingsFile(environmentOf(deployment));
    expect(warnings).toEqual([]);
    const config = readConfig(variables);
    expect([...config.roles]).toEqual([deployment.metadata?.labels?.["app.kubernetes.io/component"]]);
    expect(config).toMatchObject({ runtime: "kubernetes", drainMs: 10_000, support: { online: false } });
    expect(config.limits.requestsPerMinute).toBe(1_000_000);
    expect(config.kubernetes.namespace).toBe(`${namespace}-environments`);
    expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBe(70);
  }
});

test.skipIf(whyNoHelm)(
  `the job before them has their image, settings, secrets and files: it fails for what they would (G210)${whyNoHelm}`,
  () => {
    const { objects } = renderChart(fullValues);
    const [migrate, worker] = [ofKind(objects, "Job")[0], ofKind(objects, "Deployment").at(-1)].map(
      (each) => each?.spec.template.spec,
    );
    const [own, theirs] = [migrate, worker].map(({ containers: [{ image, env }] }) => ({
      image,
      env: env.map((each: Variable) => (each.name === "ROLES" ? "ROLES" : each)),
    }));
    expect(own).toEqual(theirs);
    const volumes = (of: RenderedObject["spec"]) => new Map(of.volumes.map((each: Variable) => [each.name, each]));
    expect(volumes(migrate).get("hosts")).toEqual(volumes(worker).get("hosts"));
    const copies = ofKind(objects, "ConfigMap").map(({ metadata, data }) => [metadata?.name, data]);
    expect(copies.map(([name]) => name).toSorted()).toEqual(["berth-catalogue", "berth-migrate"]);
    expect(copies[0]?.[1]).toEqual(copies[1]?.[1]);
    expect(volumes(migrate).get("catalogue")).toMatchObject({ configMap: { name: "berth-migrate" } });
  },
);

test.skipIf(whyNoHelm)(
  `a claim for backups is the worker's alone, and a restore runs at an installation, before the migration (G211)${whyNoHelm}`,
  () => {
    const { objects } = renderChart({
      ...leastValues,
      backup: { volumeClaim: "backups" },
      restore: "/backups/berth-20261123T020000Z.tar.gz",
    });
    const withClaim = withPods(objects).flatMap(({ metadata, spec }) =>
      spec.template.spec.volumes.some((each: Variable) => each.name === "backups") ? [metadata?.name] : [],
    );
    expect(withClaim.toSorted()).toEqual(["berth-restore", "berth-worker"]);
    const [restore, migrate] = ["berth-restore", "berth-migrate"].map((name) =>
      objects.find(({ metadata }) => metadata?.name === name),
    );
    expect(restore?.spec.template.spec.containers[0].args).toEqual([
      "restore",
      "/backups/berth-20261123T020000Z.tar.gz",
    ]);
    const foreign = renderChart({ ...leastValues, restore: "s3:a", restoreForeign: true }).objects;
    const job = foreign.find(({ metadata }) => metadata?.name === "berth-restore");
    expect(job?.spec.template.spec.containers[0].args).toEqual(["restore", "s3:a", "--foreign"]);
    const hook = (of: RenderedObject | undefined, name: string) => of?.metadata?.annotations?.[`helm.sh/${name}`];
    expect([hook(restore, "hook"), hook(migrate, "hook")]).toEqual(["pre-install", "pre-install,pre-upgrade"]);
    expect(Number(hook(restore, "hook-weight"))).toBeLessThan(Number(hook(migrate, "hook-weight") ?? 0));
  },
);

test.skipIf(whyNoHelm)(`a worker alone is ready only with its database (G187)${whyNoHelm}`, () => {
  const ready = ofKind(renderChart(leastValues).objects, "Deployment").map(({ metadata, spec }) => [
    metadata?.name,
    spec.template.spec.containers[0].readinessProbe.httpGet.path,
  ]);
  expect(Object.fromEntries(ready)).toEqual({
    "berth-api": "/healthz",
    "berth-gateway": "/healthz",
    "berth-worker": "/readyz",
  });
});

test.skipIf(whyNoHelm)(
  `api and worker get the keys of Docker hosts by reference, a gateway gets none (G204)${whyNoHelm}`,
  () => {
    const sources = ofKind(renderChart(fullValues).objects, "Deployment").map(({ metadata, spec }) => {
      const { volumes, initContainers } = spec.template.spec;
      const hosts = volumes.find(({ name }: { name: string }) => name === "hosts");
      return [metadata?.name, initContainers?.length ?? 0, hosts?.projected.sources ?? []];
    });
    const files = (name: string, ...items: readonly (readonly [string, string])[]) => ({
      secret: { name, items: items.map(([key, path]) => ({ key, path })) },
    });
    const all = [
      files("berth-hosts", ["known_hosts", "known_hosts"]),
      files("clusters", ["kubeconfig", "a100/kubeconfig"]),
      files("berth-hosts", ["key", "gpu-1/key"]),
      files("tls", ["ca.pem", "gpu-2/ca.pem"], ["cert.pem", "gpu-2/cert.pem"], ["key.pem", "gpu-2/key.pem"]),
    ];
    expect(sources).toEqual([
      ["berth-api", 1, all],
      ["berth-gateway", 0, []],
      ["berth-worker", 1, all],
    ]);
  },
);

const given = (change: object) => ({ ...leastValues, ...change });
const set = (settings: object) => given({ settings: { ...leastValues.settings, ...settings } });

test.skipIf(whyNoHelm).each([
  ["no image", { settings: leastValues.settings }, ["image", "repository"]],
  ["no address", given({ settings: { ENV_HOST: "run.example" } }), ["settings", "APP_URL"]],
  ["a file that no host has", given({ hosts: { secrets: { a: { name: "s", keys: ["id_rsa"] } } } }), ["hosts", "keys"]],
  ["a mistyped value", given({ replicas: 3 }), ["replicas"]],
  ["a mistyped role", given({ roles: { apis: { replicas: 1 } } }), ["roles", "apis"]],
  ["a restore from a folder of the pod", given({ restore: "/srv/a.tar.gz" }), ["restore"]],
  ["no replica", given({ roles: { api: { replicas: 0 } } }), ["api", "replicas"]],
  ["a mistyped setting", set({ GPUS_PER_USR: 4 }), ["settings", "GPUS_PER_USR"]],
  ["a setting with a wrong word", set({ MINING: "maybe" }), ["MINING", "ask", "stop", "off"]],
  ["a setting out of its range", set({ NEWCOMER_SHARE: 2 }), ["NEWCOMER_SHARE", "1"]],
  ["a secret among the settings", set({ DATABASE_URL: "postgres://h/d" }), ["settings", "DATABASE_URL"]],
  ["a setting that is the chart's", set({ ROLES: "api" }), ["settings", "ROLES"]],
  ["a secret that is written down", given({ secrets: { IDENTITY_SECRET: "x".repeat(32) } }), ["IDENTITY_SECRET"]],
] as const)(`Helm refuses %s and says which${whyNoHelm}`, (_, values, words) => {
  const { objects, refusal } = renderChart(values);
  expect(objects).toEqual([]);
  for (const word of words) expect(refusal).toContain(word);
});
