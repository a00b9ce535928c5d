import type { SettingDescription } from "../../server/src/config/describe-settings.ts";

type Schema = Readonly<Record<string, unknown>>;

const text = { type: "string" };
const words = { type: "object", additionalProperties: text };
const objectName = { type: "string", pattern: "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$" };
const anyObject = { type: "object" };
const anyObjects = { type: "array", items: anyObject };

/** Decided by the chart, by other runtimes or by tests. */
const elsewhere =
  "PORT HOST SSH_PORT SSH_HOST DATA_DIR RUNTIMES_DIR ROLES DRAIN_SECONDS METRICS_PORT METRICS_HOST METRICS_TOKEN CATALOGUE RUNTIME " +
  "KUBERNETES_CONFIG KUBERNETES_NAMESPACE KUBERNETES_CLIENTS DOCKER_HOST DOCKER_REACH SSH_AUTH_SOCK PROCESS_NETWORK " +
  "UNSAFE_PUBLIC_PROCESS_DRIVER FAKE_DRIVER GIVE_UP_AFTER RAZORPAY_URL";

const secret = "DATABASE_URL DATABASE_LISTEN_URL IDENTITY_SECRET RAZORPAY_KEY_SECRET RAZORPAY_WEBHOOK_SECRET SMTP_URL";

/** `values.schema.json` of the chart: Helm refuses values that do not fit, settings of the server among them. */
export function chartSchema(settings: readonly SettingDescription[]): string {
  const without = new Set(`${elsewhere} ${secret}`.split(" "));
  const offered = settings.filter(({ name }) => !without.has(name)).map((each) => [each.name, schemaOf(each)] as const);
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the chart berth",
    description: "Written by `npm run docs`: never edit it",
    ...closed(
      {
        image: closed(
          {
            repository: { type: "string", pattern: "^[a-z0-9]\\S*[a-z0-9]$" },
            tag: { type: "string", pattern: "^([A-Za-z0-9_][A-Za-z0-9_.-]*(@sha256:[0-9a-f]{64})?)?$" },
            pullPolicy: { enum: ["Always", "IfNotPresent", "Never"] },
            pullSecrets: { type: "array", items: objectName },
          },
          ["repository"],
        ),
        settings: closed(Object.fromEntries(offered), ["APP_URL", "ENV_HOST", "KUBERNETES_IMAGES"]),
        secrets: secretsSchema(),
        hosts: closed({
          knownHosts: { anyOf: [reference, { type: "object", maxProperties: 0 }] },
          secrets: {
            ...closed({}),
            patternProperties: {
              "^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$": closed(
                { name: objectName, keys: { type: "array", minItems: 1, items: { enum: hostFiles } } },
                ["name", "keys"],
              ),
            },
          },
        }),
        catalogue: anyObject,
        environments: closed({ namespace: { anyOf: [objectName, { const: "" }] } }),
        roles: closed({ api: role, gateway: role, worker: role }, ["api", "gateway", "worker"]),
        autoscaling,
        drainSeconds: { type: "integer", minimum: 0, maximum: 60 },
        backup: closed({ volumeClaim: { anyOf: [objectName, { const: "" }] } }),
        restore: { type: "string", pattern: "^((s3:|/backups/)\\S+)?$" },
        restoreForeign: { type: "boolean" },
        migrate,
        ingress: closed({ enabled: { type: "boolean" }, className: text, annotations: words, tlsSecret: text }),
        httpRoute: closed({ enabled: { type: "boolean" }, parentRefs: anyObjects }),
        networkPolicy: closed({ enabled: { type: "boolean" }, from: anyObjects, metricsFrom: anyObjects }),
        serviceMonitor: closed({ enabled: { type: "boolean" }, interval: text, labels: words }),
        podAnnotations: words,
        nodeSelector: words,
        tolerations: anyObjects,
        global: anyObject,
      },
      ["image", "settings", "secrets", "roles"],
    ),
  };
  return `${onLines(JSON.stringify(schema, null, 2))}\n`;
}

const reference = closed({ name: objectName, key: { type: "string", pattern: "^[A-Za-z0-9._-]+$" } }, ["name", "key"]);

/** What a host's folder has, for SSH, for TLS or for a cluster (docs/operate/hosts.md). */
const hostFiles = ["key", "ca.pem", "cert.pem", "key.pem", "kubeconfig"];

const migrate = closed({ deadlineSeconds: { type: "integer", minimum: 60 } });

const autoscaling = closed({
  enabled: { type: "boolean" },
  maxReplicas: { type: "integer", minimum: 1 },
  targetCPUUtilizationPercentage: { type: "integer", minimum: 1, maximum: 100 },
});

const role = closed({ replicas: { type: "integer", minimum: 1 }, resources: anyObject }, ["replicas", "resources"]);

function secretsSchema(): Schema {
  const names = secret.split(" ").map((name) => [name, reference] as const);
  return {
    ...closed(Object.fromEntries(names), ["DATABASE_URL", "IDENTITY_SECRET"]),
    patternProperties: { "^(AWS|RESTIC)_\\w+$": reference },
  };
}

function closed(properties: Readonly<Record<string, unknown>>, required: readonly string[] = []): Schema {
  return { type: "object", additionalProperties: false, ...(required.length > 0 && { required }), properties };
}

/** A value of one setting, as YAML writes it: a yes or no without quotes too. */
function schemaOf(setting: SettingDescription): Schema {
  if (setting.enum?.includes("true")) return { enum: ["true", "false", true, false] };
  const ofPages = ["name", "default", "example", "unset"];
  return Object.fromEntries(Object.entries(setting).filter(([key]) => !ofPages.includes(key)));
}

/** Lists of words on one line, as the formatter wants them. */
function onLines(json: string): string {
  return json.replaceAll(/\[\n\s+([^[\]{}]*?)\n\s+\]/g, (_, inside: string) => `[${inside.replaceAll(/\n\s+/g, " ")}]`);
}
