import { readFileSync } from "node:fs";
import { type Catalogue, defaultCatalogue } from "@berth/contract";
import { comparedSettings } from "./compared-settings.ts";
import { conflicts, isConsolePublic, isLive, isPublic, type Role, secretsOf } from "./conflicts.ts";
import { readFirebase, ServiceAccountError } from "./firebase-settings.ts";
import { readKubernetes } from "./kubernetes-settings.ts";
import { readProviders } from "./provider-settings.ts";
import { CatalogueError, readCatalogueFile } from "./read-catalogue-file.ts";
import { resticVariables } from "./restic-variables.ts";
import { backupPattern, type Settings, settings } from "./settings.ts";

export type Config = ReturnType<typeof nest> & {
  /** Variables of restic, with its password and keys. */
  readonly restic: ReturnType<typeof resticVariables>;
  /** As `comparedSettings`. */
  readonly compared: Readonly<Record<string, string>>;
};

export class ConfigError extends Error {}

/** Validates all environment variables; one error lists every problem (CONTRIBUTING 5). */
export function readConfig(source: Record<string, string | undefined>): Config {
  const present = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = settings.safeParse(present);
  if (parsed.success) {
    const found = conflicts(parsed.data);
    if (found.length > 0) throw new ConfigError(explain(found));
    const catalogue = catalogueOf(parsed.data);
    const compared = comparedSettings(parsed.data, catalogue);
    return { ...nest(parsed.data, catalogue), restic: resticVariables(source), compared };
  }
  const bad = new Set(parsed.error.issues.map(({ path }) => String(path[0])));
  const rest = settings.safeParse(Object.fromEntries(Object.entries(present).filter(([name]) => !bad.has(name))));
  // An invalid setting is not reported as missing too.
  const others = rest.success
    ? conflicts(rest.data).filter((message) => ![...bad].some((name) => message.includes(name)))
    : [];
  throw new ConfigError(
    explain([...parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`), ...others]),
  );
}

/** Names of all settings. */
export const settingNames: readonly string[] = Object.keys(settings.shape);

function explain(problems: string[]): string {
  return `The settings do not fit together:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`;
}

/** The operator's catalogue, or the built-in one. A pool of a type that is not in it is refused. */
function catalogueOf({ CATALOGUE: file, WARM_POOL: pool }: Settings): Catalogue {
  try {
    const catalogue = file === undefined ? defaultCatalogue : readCatalogueFile(file);
    const unknown = Object.keys(readPairs(pool)).find((type) => !catalogue.types.some(({ id }) => id === type));
    if (!unknown) return catalogue;
  } catch (error) {
    throw error instanceof CatalogueError ? new ConfigError(explain([`CATALOGUE: ${error.message}`])) : error;
  }
  throw new ConfigError(explain(["WARM_POOL: such as jupyter=2,pytorch=1, of types that are in the catalogue"]));
}

function nest(v: Settings, catalogue: Catalogue) {
  return {
    /** Without a file the built-in one. */
    ...{ catalogue, catalogueFile: v.CATALOGUE },
    ...{ port: v.PORT, host: v.HOST, ssh: sshOf(v), drainMs: v.DRAIN_SECONDS * 1000 },
    /** Undefined: main.ts derives it from the port (G96). */
    appUrl: v.APP_URL?.replace(/\/$/, ""),
    envHost: v.ENV_HOST,
    dataDir: v.DATA_DIR,
    /** Prepared Python runtimes, shared by several data folders. */
    runtimesDir: v.RUNTIMES_DIR,
    database: readDatabase(v),
    /** Undefined: the worker makes no backups. */
    backup: readBackup(v),
    runtime: v.RUNTIME,
    ...{ docker: readDocker(v), kubernetes: readKubernetes(v) },
    /** Agent with the SSH keys of remote hosts. */
    sshAgent: v.SSH_AUTH_SOCK,
    payments: readPayments(v),
    seller: readSeller(v),
    mail: readMail(v),
    ...identityOf(v),
    brand: { name: v.BRAND_NAME, email: v.CONTACT_EMAIL, supportName: v.SUPPORT_NAME },
    support: readSupport(v),
    betaStartsAt: v.BETA_STARTS_AT ? new Date(v.BETA_STARTS_AT) : undefined,
    /** Port for /healthz, /readyz and /metrics, for any role. */
    metrics: { port: v.METRICS_PORT, host: v.METRICS_HOST, token: v.METRICS_TOKEN },
    console: readConsole(v),
    roles: new Set(v.ROLES.split(",") as Role[]),
    /** Slots are not sold with live keys (docs/internals/runtime.md). Undefined: as many as a host's memory allows. */
    slots: isLive(v) ? 0 : v.SLOTS,
    processNetwork: v.PROCESS_NETWORK,
    /** Warm runs of one GPU on each host, by container type. */
    warmPool: readPairs(v.WARM_POOL),
    fake: readPairs(v.FAKE_DRIVER),
    giveUpAfterSeconds: v.GIVE_UP_AFTER,
    caps: {
      gpusPerUser: catalogue.limits?.gpus ?? v.GPUS_PER_USER,
      launchesPerUser: catalogue.limits?.launches ?? v.LAUNCHES_PER_USER,
      ordersPerMinute: v.ORDERS_PER_MINUTE,
      newcomerShare: v.NEWCOMER_SHARE,
    },
    ...{ retentionDays: v.RETENTION_DAYS, mining: v.MINING },
    limits: readLimits(v),
    trustProxy: v.TRUST_PROXY,
    logLevel: v.LOG_LEVEL,
  };
}

/** Without a port there is no SSH to environments. */
function sshOf({ SSH_PORT, SSH_HOST, PORT, HOST }: Settings) {
  const isOff = SSH_PORT === "off" || (SSH_PORT === undefined && PORT === 0);
  return { port: isOff ? undefined : Number(SSH_PORT ?? 2222), host: SSH_HOST ?? HOST };
}

/** Without a project accounts are the server's own, and other providers may sign in to them. */
function identityOf(v: Settings) {
  const [secret, secondFactor] = [v.IDENTITY_SECRET, v.SECOND_FACTOR];
  return { secret, secondFactor, firebase: firebaseOf(v), providers: readProviders(v) };
}

function firebaseOf(v: Settings) {
  try {
    return readFirebase(v);
  } catch (error) {
    throw error instanceof ServiceAccountError
      ? new ConfigError(explain([`FIREBASE_SERVICE_ACCOUNT: ${error.message}`]))
      : error;
  }
}

function readDatabase({ DATABASE_URL: url, DATABASE_LISTEN_URL: listenUrl }: Settings) {
  return url ? { kind: "external" as const, url, listenUrl } : { kind: "embedded" as const };
}

function readBackup({ BACKUP: text }: Settings) {
  const { folder, every = "24", unit = "h", keep = "7", homes } = backupPattern.exec(text ?? "")?.groups ?? {};
  if (folder === undefined) return undefined;
  const everyHours = Number(every) * (unit === "d" ? 24 : 1);
  return { folder, everyHours, keep: Number(keep), withHomes: homes !== undefined };
}

function readPayments(v: Settings) {
  if (!v.RAZORPAY_KEY_ID || !v.RAZORPAY_KEY_SECRET) return { kind: "embedded" as const };
  return {
    kind: "razorpay" as const,
    keyId: v.RAZORPAY_KEY_ID,
    keySecret: v.RAZORPAY_KEY_SECRET,
    webhookSecrets: secretsOf(v),
    url: v.RAZORPAY_URL.replace(/\/$/, ""),
    mode: isLive(v) ? ("live" as const) : ("test" as const),
  };
}

/** The seller as registered for GST in India; undefined: receipts without tax (docs/internals/money.md). */
function readSeller({ TAX_GSTIN: gstin, TAX_LEGAL_NAME: legalName, TAX_ADDRESS: address, TAX_LUT: lut }: Settings) {
  return gstin && legalName && address ? { gstin, legalName, address, lut } : undefined;
}

/** The operator's console; undefined without OPERATOR_PORT (G143). */
function readConsole(v: Settings) {
  if (v.OPERATOR_PORT === undefined) return undefined;
  return {
    port: v.OPERATOR_PORT,
    host: v.OPERATOR_HOST,
    /** Undefined: derived from the port. */
    url: v.OPERATOR_URL?.replace(/\/$/, ""),
    needsSecondFactor: v.OPERATOR_SECOND_FACTOR ?? isConsolePublic(v),
  };
}

function readMail(v: Settings) {
  const from = { name: v.BRAND_NAME, address: v.MAIL_FROM ?? v.CONTACT_EMAIL };
  return {
    smtp: v.SMTP_URL ? { url: v.SMTP_URL, from } : undefined,
    /** Never with a public APP_URL. */
    outboxPage: !v.SMTP_URL && !isPublic(v.APP_URL),
  };
}

function readLimits(v: Settings) {
  return {
    requestsPerMinute: v.REQUESTS_PER_MINUTE,
    anonymousPerMinute: v.ANONYMOUS_PER_MINUTE,
    unauthenticatedPerMinute: v.UNAUTHENTICATED_PER_MINUTE,
    signInsPerMinute: v.SIGN_INS_PER_MINUTE,
    mails: {
      linksPerHour: v.RESET_MAILS_PER_HOUR,
      networkPerHour: v.NETWORK_MAILS_PER_HOUR,
      networkPerDay: v.NETWORK_MAILS_PER_DAY,
      domainPerDay: v.DOMAIN_MAILS_PER_DAY,
    },
  };
}

function readSupport(v: Settings) {
  return {
    telegram: v.SUPPORT_TELEGRAM?.replace("@", "") ?? "",
    /** Only links to a person's account can carry a message (G61). */
    prefill: v.SUPPORT_TELEGRAM_KIND === "person",
    codePrefix: v.SUPPORT_CODE_PREFIX,
    online: v.SUPPORT_ONLINE,
    responseTime: v.SUPPORT_RESPONSE_TIME,
  };
}

function readDocker(v: Settings) {
  return {
    socketPath: v.DOCKER_HOST.slice("unix://".length),
    /** Endpoint of a run: a published port, or its own address if the server is in the same bridge network. */
    reach: v.DOCKER_REACH,
    /** Runs of a public installation must survive a restart of the engine. */
    needsLiveRestore: isPublic(v.APP_URL),
  };
}

function readPairs(text: string): Readonly<Record<string, number>> {
  if (text === "") return {};
  return Object.fromEntries(text.split(",").map((pair) => [pair.split("=")[0], Number(pair.split("=")[1])]));
}

/** The product's own version, for /healthz and the OpenAPI document. */
export const version: string = JSON.parse(
  readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
).version;
