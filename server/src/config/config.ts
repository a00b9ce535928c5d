import { readFileSync } from "node:fs";
import { containerTypes } from "@berth/contract";
import * as z from "zod";
import { isGstin } from "./gstin.ts";

const word = <const W extends readonly [string, ...string[]]>(...words: W) => z.enum(words);
const yesNo = word("true", "false").transform((value) => value === "true");
const count = (fallback: number) => z.coerce.number().int().positive().default(fallback);

/** One entry of WARM_POOL: a type, and how many of it. */
const poolOf = `(${containerTypes.join("|")})=\\d{1,2}`;

const variables = z.object({
  PORT: z.coerce.number().int().min(0).max(65535).default(3000),
  HOST: z.string().min(1).default("127.0.0.1"),
  APP_URL: z.url({ protocol: /^https?$/ }).optional(),
  ENV_HOST: z
    .string()
    .regex(/^[a-z0-9.-]+$/, "a lower-case host name without a port")
    .default("localhost"),
  DATA_DIR: z.string().min(1).default("./data"),
  RUNTIMES_DIR: z.string().min(1).optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  RUNTIME: word("process", "docker", "fake").default("process"),
  DOCKER_HOST: z.string().default("unix:///var/run/docker.sock"),
  SSH_AUTH_SOCK: z.string().optional(),
  DOCKER_REACH: word("published", "network").default("published"),
  PAYMENTS: word("embedded", "razorpay").optional(),
  RAZORPAY_KEY_ID: z
    .string()
    .regex(/^rzp_(test|live)_\w+$/, "rzp_test_... or rzp_live_...")
    .optional(),
  RAZORPAY_KEY_SECRET: z.string().min(1).optional(),
  RAZORPAY_WEBHOOK_SECRET: z.string().min(1).optional(),
  RAZORPAY_URL: z.url({ protocol: /^https?$/ }).default("https://api.razorpay.com/v1"),
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  MAIL_FROM: z.email().optional(),
  TAX_GSTIN: z.string().refine(isGstin, "a GSTIN of 15 characters, whose last one checks the others").optional(),
  TAX_LEGAL_NAME: z.string().min(1).max(120).optional(),
  TAX_ADDRESS: z.string().min(1).max(240).optional(),
  TAX_LUT: z
    .string()
    .regex(/^[A-Z0-9]{8,20}$/, "the reference number (ARN) of a letter of undertaking")
    .optional(),
  IDENTITY: word("local").default("local"),
  IDENTITY_SECRET: z.string().min(32, "at least 32 characters").optional(),
  BRAND_NAME: z.string().min(1).default("Berth"),
  CONTACT_EMAIL: z.email().default("hello@berth.example"),
  SUPPORT_NAME: z.string().min(1).default("Mira"),
  SUPPORT_TELEGRAM: z
    .string()
    .regex(/^@?[A-Za-z]\w{3,31}$/, "the name of a Telegram account, such as mira_berth")
    .optional(),
  SUPPORT_TELEGRAM_KIND: word("person", "bot", "channel").default("person"),
  SUPPORT_CODE_PREFIX: z
    .string()
    .regex(/^[A-Z0-9]{2,8}$/, "2 to 8 capital letters or digits")
    .default("BRT"),
  SUPPORT_ONLINE: yesNo.default(true),
  SUPPORT_RESPONSE_TIME: z.string().min(1).max(80).default("Usually within 1 hour"),
  BETA_STARTS_AT: z.iso.datetime().optional(),
  ROLES: z.string().default("api,gateway,worker"),
  METRICS_PORT: z.coerce.number().int().min(0).max(65535).optional(),
  WARM_POOL: z
    .string()
    .regex(new RegExp(`^(${poolOf}(,${poolOf})*)?$`), "such as jupyter=2,pytorch=1")
    .default(""),
  SLOTS: z.coerce.number().int().min(1).max(64).optional(),
  PROCESS_NETWORK: word("shared", "off").default("shared"),
  FAKE_DRIVER: z
    .string()
    .regex(/^(\w+=[\d.]+(,\w+=[\d.]+)*)?$/, "such as startMs=200,fail=0.1")
    .default(""),
  GIVE_UP_AFTER: count(600),
  GPUS_PER_USER: count(8),
  LAUNCHES_PER_USER: count(3),
  ORDERS_PER_MINUTE: count(20),
  NEWCOMER_SHARE: z.coerce.number().gt(0).max(1).default(0.5),
  RETENTION_DAYS: count(30),
  REQUESTS_PER_MINUTE: count(300),
  ANONYMOUS_PER_MINUTE: count(120),
  UNAUTHENTICATED_PER_MINUTE: count(20),
  SIGN_INS_PER_MINUTE: count(10),
  RESET_MAILS_PER_HOUR: count(3),
  NETWORK_MAILS_PER_HOUR: count(20),
  NETWORK_MAILS_PER_DAY: count(60),
  DOMAIN_MAILS_PER_DAY: count(2000),
  TRUST_PROXY: z.string().optional(),
  UNSAFE_PUBLIC_PROCESS_DRIVER: yesNo.default(false),
  LOG_LEVEL: word("fatal", "error", "warn", "info", "debug", "trace", "silent").default("info"),
});

export type Config = ReturnType<typeof nest>;
type Role = "api" | "gateway" | "worker";

export class ConfigError extends Error {}

/** Checks the environment as a whole: every problem is in the one message (CONTRIBUTING 5). */
export function readConfig(source: Record<string, string | undefined>): Config {
  const present = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = variables.safeParse(present);
  if (parsed.success) {
    const found = conflicts(parsed.data);
    if (found.length > 0) throw new ConfigError(explain(found));
    return nest(parsed.data);
  }
  const bad = new Set(parsed.error.issues.map(({ path }) => String(path[0])));
  const rest = variables.safeParse(Object.fromEntries(Object.entries(present).filter(([name]) => !bad.has(name))));
  // What cannot be read is told once, not again as missing.
  const fitting = rest.success
    ? conflicts(rest.data).filter((words) => ![...bad].some((name) => words.includes(name)))
    : [];
  throw new ConfigError(
    explain([...parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`), ...fitting]),
  );
}

/** What may be set. */
export const settingNames: readonly string[] = Object.keys(variables.shape);

type Variables = z.output<typeof variables>;

const hasKeys = (v: Variables) => Boolean(v.RAZORPAY_KEY_ID || v.RAZORPAY_KEY_SECRET);
const isLive = (v: Variables) => v.RAZORPAY_KEY_ID?.startsWith("rzp_live_") ?? false;
const rolesOf = (v: Variables) => v.ROLES.split(",");

/** Settings that exclude each other, and what the operator is told. */
const conflictTable: readonly (readonly [when: (v: Variables) => boolean, message: string])[] = [
  [
    (v) => Boolean(v.RAZORPAY_KEY_ID) !== Boolean(v.RAZORPAY_KEY_SECRET),
    "RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET: set both, or neither for the embedded gateway",
  ],
  [
    (v) => Boolean(v.RAZORPAY_WEBHOOK_SECRET) && !hasKeys(v),
    "RAZORPAY_WEBHOOK_SECRET needs RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET: the embedded gateway has a secret of its own",
  ],
  [(v) => v.PAYMENTS === "razorpay" && !hasKeys(v), "PAYMENTS=razorpay needs RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET"],
  [(v) => v.PAYMENTS === "embedded" && hasKeys(v), "PAYMENTS=embedded and Razorpay keys exclude each other"],
  [(v) => isLive(v) && v.FAKE_DRIVER !== "", "FAKE_DRIVER is for tests: not with live keys"],
  [
    (v) => isLive(v) && v.RAZORPAY_URL !== "https://api.razorpay.com/v1",
    "RAZORPAY_URL is for tests: not with live keys",
  ],
  [(v) => isLive(v) && v.GIVE_UP_AFTER !== 600, "GIVE_UP_AFTER is for tests: not with live keys"],
  [(v) => isLive(v) && v.RUNTIME === "fake", "RUNTIME=fake delivers nothing: not with live keys"],
  [
    (v) => isLive(v) && v.RUNTIME === "process" && !v.UNSAFE_PUBLIC_PROCESS_DRIVER,
    "RUNTIME=process is for one's own machine, and live keys sell to strangers; UNSAFE_PUBLIC_PROCESS_DRIVER=true overrides",
  ],
  [
    (v) => v.RUNTIME === "docker" && !v.DOCKER_HOST.startsWith("unix:///"),
    "DOCKER_HOST: the engine's Unix socket on this machine, such as unix:///var/run/docker.sock; TCP makes root of whoever reaches it",
  ],
  [(v) => isLive(v) && !v.DATABASE_URL, "live keys need DATABASE_URL: a PostgreSQL of your own, with backups"],
  [
    (v) => isLive(v) && !(isPublic(v.APP_URL) && v.APP_URL?.startsWith("https:")),
    "live keys need APP_URL: a public https address, which the provider and buyers can reach",
  ],
  [
    (v) => isLive(v) && secretsOf(v).length === 0,
    "live keys need RAZORPAY_WEBHOOK_SECRET: what the provider signs with",
  ],
  [
    (v) => isLive(v) && !v.SMTP_URL,
    "live keys need SMTP_URL: buyers confirm their address and hear of their money by mail",
  ],
  [
    (v) => isLive(v) && /\.example$/.test(v.CONTACT_EMAIL),
    "live keys need CONTACT_EMAIL: a real address on every page and receipt (G10)",
  ],
  [
    (v) => v.RUNTIME === "process" && !isLoopback(v.HOST) && !v.UNSAFE_PUBLIC_PROCESS_DRIVER,
    "HOST is public: the process driver is for one's own machine and binds loopback only; UNSAFE_PUBLIC_PROCESS_DRIVER=true overrides",
  ],
  [
    (v) => v.RUNTIME === "process" && v.WARM_POOL !== "",
    "WARM_POOL needs RUNTIME=docker: a run of the process driver cannot stand ready",
  ],
  [
    (v) => isPublic(v.APP_URL) && !hasKeys(v) && v.PAYMENTS !== "embedded",
    "APP_URL is public and there are no payment keys: set them, or PAYMENTS=embedded for a test installation",
  ],
  [(v) => Boolean(v.SMTP_URL) && !v.MAIL_FROM, "SMTP_URL needs MAIL_FROM: the address that mails come from"],
  [
    (v) => Boolean(v.TAX_GSTIN) !== Boolean(v.TAX_LEGAL_NAME) || Boolean(v.TAX_GSTIN) !== Boolean(v.TAX_ADDRESS),
    "TAX_GSTIN, TAX_LEGAL_NAME and TAX_ADDRESS: set all three, or none for receipts without tax",
  ],
  [(v) => Boolean(v.TAX_LUT) && !v.TAX_GSTIN, "TAX_LUT is for exports of a seller with a TAX_GSTIN"],
  [(v) => rolesOf(v).some((role) => !isRole(role)), "ROLES: a comma-separated list of api, gateway, worker"],
  [
    (v) => !hasKeys(v) && rolesOf(v).every(isRole) && rolesOf(v).includes("api") !== rolesOf(v).includes("worker"),
    "ROLES: the embedded payment provider needs api and worker in one process; with Razorpay keys they may be split (G115)",
  ],
  [
    (v) => v.METRICS_PORT !== undefined && v.METRICS_PORT !== 0 && v.METRICS_PORT === v.PORT,
    "METRICS_PORT and PORT: two different ports",
  ],
  [(v) => rolesOf(v).length < 3 && !v.DATABASE_URL, "ROLES: split roles need DATABASE_URL (G99)"],
];

function conflicts(v: Variables): string[] {
  return conflictTable.filter(([when]) => when(v)).map(([, message]) => message);
}

/** Several while one is being replaced; each as it stands, without the blanks of a list. */
function secretsOf({ RAZORPAY_WEBHOOK_SECRET: text = "" }: Variables): string[] {
  return text
    .split(",")
    .map((secret) => secret.trim())
    .filter((secret) => secret !== "");
}

function isRole(role: string): role is Role {
  return role === "api" || role === "gateway" || role === "worker";
}

function isPublic(url: string | undefined): boolean {
  return url !== undefined && !isLoopback(new URL(url).hostname);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127\./.test(host);
}

function explain(problems: string[]): string {
  return `The settings do not fit together:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`;
}

function nest(v: Variables) {
  return {
    port: v.PORT,
    host: v.HOST,
    /** Undefined until the port is known: see `appUrl` in main.ts (G96). */
    appUrl: v.APP_URL?.replace(/\/$/, ""),
    envHost: v.ENV_HOST,
    dataDir: v.DATA_DIR,
    /** Prepared Python runtimes, when several data folders share them. */
    runtimesDir: v.RUNTIMES_DIR,
    database: v.DATABASE_URL ? { kind: "external" as const, url: v.DATABASE_URL } : { kind: "embedded" as const },
    runtime: v.RUNTIME,
    docker: readDocker(v),
    /** Of the account that the server runs as: may hold the keys of hosts on other machines. */
    sshAgent: v.SSH_AUTH_SOCK,
    payments:
      v.RAZORPAY_KEY_ID && v.RAZORPAY_KEY_SECRET
        ? {
            kind: "razorpay" as const,
            keyId: v.RAZORPAY_KEY_ID,
            keySecret: v.RAZORPAY_KEY_SECRET,
            webhookSecrets: secretsOf(v),
            url: v.RAZORPAY_URL.replace(/\/$/, ""),
            mode: v.RAZORPAY_KEY_ID.startsWith("rzp_live_") ? ("live" as const) : ("test" as const),
          }
        : { kind: "embedded" as const },
    /** Who sells, as registered for GST in India; undefined: receipts without tax (docs/internals/money.md). */
    seller:
      v.TAX_GSTIN && v.TAX_LEGAL_NAME && v.TAX_ADDRESS
        ? { gstin: v.TAX_GSTIN, legalName: v.TAX_LEGAL_NAME, address: v.TAX_ADDRESS, lut: v.TAX_LUT }
        : undefined,
    mail: {
      smtp: v.SMTP_URL
        ? { url: v.SMTP_URL, from: { name: v.BRAND_NAME, address: v.MAIL_FROM ?? v.CONTACT_EMAIL } }
        : undefined,
      /** Never in public: behind a proxy every request comes from loopback. */
      outboxPage: !v.SMTP_URL && !isPublic(v.APP_URL),
    },
    secret: v.IDENTITY_SECRET,
    brand: { name: v.BRAND_NAME, email: v.CONTACT_EMAIL, supportName: v.SUPPORT_NAME },
    support: readSupport(v),
    betaStartsAt: v.BETA_STARTS_AT ? new Date(v.BETA_STARTS_AT) : undefined,
    /** On loopback: /healthz and /readyz, for any role. */
    metricsPort: v.METRICS_PORT,
    roles: new Set(v.ROLES.split(",") as Role[]),
    /**
     * A slot is no GPU: none is sold for real money (docs/internals/runtime.md). Undefined: what each host's memory
     * allows.
     */
    slots: isLive(v) ? 0 : v.SLOTS,
    processNetwork: v.PROCESS_NETWORK,
    /** How many runs of one GPU stand ready on each host, by container type. */
    warmPool: readPairs(v.WARM_POOL),
    fake: readPairs(v.FAKE_DRIVER),
    giveUpAfterSeconds: v.GIVE_UP_AFTER,
    caps: {
      gpusPerUser: v.GPUS_PER_USER,
      launchesPerUser: v.LAUNCHES_PER_USER,
      ordersPerMinute: v.ORDERS_PER_MINUTE,
      newcomerShare: v.NEWCOMER_SHARE,
    },
    retentionDays: v.RETENTION_DAYS,
    limits: readLimits(v),
    trustProxy: v.TRUST_PROXY,
    logLevel: v.LOG_LEVEL,
  };
}

function readLimits(v: Variables) {
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

function readSupport(v: Variables) {
  return {
    telegram: v.SUPPORT_TELEGRAM?.replace("@", "") ?? "",
    /** A link carries a message to a person's account only (G61). */
    prefill: v.SUPPORT_TELEGRAM_KIND === "person",
    codePrefix: v.SUPPORT_CODE_PREFIX,
    online: v.SUPPORT_ONLINE,
    responseTime: v.SUPPORT_RESPONSE_TIME,
  };
}

function readDocker(v: Variables) {
  return {
    socketPath: v.DOCKER_HOST.slice("unix://".length),
    /** Where a run is reached: a published port, or its own address when the server is a container on the same bridge. */
    reach: v.DOCKER_REACH,
    /** Strangers' runs must not end with a restart of the engine. */
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
