import * as z from "zod";
import { firebaseSettings } from "./firebase-settings.ts";
import { kubernetesSettings } from "./kubernetes-settings.ts";
import { providerSettings } from "./provider-settings.ts";
import { sshSettings } from "./ssh-settings.ts";
import { taxSettings } from "./tax-settings.ts";

const word = <const W extends readonly [string, ...string[]]>(...words: W) => z.enum(words);
const yesNo = word("true", "false").transform((value) => value === "true");
const count = (fallback: number) => z.coerce.number().int().positive().default(fallback);

/** Pattern of one entry of WARM_POOL: type=count. */
const poolOf = "[a-z0-9][a-z0-9-]*=\\d{1,2}";

/** Folder, hours or days between backups, how many are kept, homes. */
export const backupPattern =
  /^(?<folder>\/\S*|s3:\S+)( every (?<every>[1-9]\d{0,2})(?<unit>[hd]))?( keep (?<keep>[1-9]\d{0,2}))?(?<homes> with homes)?$/;

/**
 * All settings with validation, default and description; scripts/pages/generate-docs.ts writes them down. `unset` says what
 * holds without a value, `example` is a value that works.
 */
export const settings = z.object({
  PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65535)
    .default(3000)
    .describe("Port that the server listens on; 0 takes a free one"),
  HOST: z.string().min(1).default("127.0.0.1").describe("The address that the server listens on"),
  APP_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("The app's public address, without a path")
    .meta({ unset: "`http://localhost:{PORT}`", example: "https://berth.example" }),
  ENV_HOST: z
    .string()
    .regex(/^[a-z0-9.-]+$/, "a lower-case host name without a port")
    .default("localhost")
    .describe("Environments are at {subdomain}.{ENV_HOST}; in production another registrable domain than the app's")
    .meta({ example: "berth-run.example" }),
  ...sshSettings,
  DATA_DIR: z
    .string()
    .min(1)
    .default("./data")
    .describe("Folder of the installation's secret, the homes, prepared runtimes and the embedded database"),
  BACKUP: z
    .string()
    .regex(backupPattern, "such as /var/lib/berth-backups every 24h keep 7 with homes, in hours (h) or days (d)")
    .optional()
    .describe(
      "Backups by the worker: an absolute folder of their own (or s3://BUCKET/PATH), how often, how many are kept, and whether with homes",
    )
    .meta({
      unset: "none; where only a folder is named every 24h keep 7",
      example: "/var/lib/berth-backups every 24h keep 7 with homes",
    }),
  RUNTIMES_DIR: z
    .string()
    .min(1)
    .optional()
    .describe("Prepared Python runtimes, when several data folders share them")
    .meta({ unset: "a folder in DATA_DIR", example: "/srv/runtimes" }),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe("A PostgreSQL 18 of your own instead of the embedded one")
    .meta({ unset: "the embedded database", example: "postgres://berth:password@127.0.0.1/berth" }),
  DATABASE_LISTEN_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe(
      "The address of that database itself, where DATABASE_URL leads through a pooler in transaction mode, which delivers no notifications",
    )
    .meta({ unset: "DATABASE_URL", example: "postgres://berth:password@127.0.0.1:5432/berth" }),
  RUNTIME: word("process", "docker", "kubernetes", "fake")
    .default("process")
    .describe(
      "Driver of environments: processes for people you trust, a Docker Engine 20.10 or later, a Kubernetes cluster, or nothing, for tests",
    ),
  DOCKER_HOST: z
    .string()
    .default("unix:///var/run/docker.sock")
    .describe("Unix socket of this machine's Docker Engine"),
  ...kubernetesSettings,
  SSH_AUTH_SOCK: z
    .string()
    .optional()
    .describe("SSH agent with the keys of hosts on other machines")
    .meta({ unset: "the key files in DATA_DIR/hosts", example: "/run/user/1000/ssh-agent" }),
  DOCKER_REACH: word("published", "network")
    .default("published")
    .describe(
      "Endpoints of runs: published ports, or own addresses where the server is itself a container on their bridge",
    ),
  PAYMENTS: word("embedded", "razorpay")
    .optional()
    .describe("Confirms the payment provider; the embedded one takes test cards and moves no money")
    .meta({ unset: "`razorpay` with its keys, else `embedded`", example: "razorpay" }),
  RAZORPAY_KEY_ID: z
    .string()
    .regex(/^rzp_(test|live)_\w+$/, "rzp_test_... or rzp_live_...")
    .optional()
    .describe(
      "The key of the Razorpay account. rzp_live_... also needs the webhook secret, DATABASE_URL, an https APP_URL, SMTP_URL and CONTACT_EMAIL",
    )
    .meta({ example: "rzp_test_..." }),
  RAZORPAY_KEY_SECRET: z.string().min(1).optional().describe("The secret of that key").meta({ example: "..." }),
  RAZORPAY_WEBHOOK_SECRET: z
    .string()
    .min(1)
    .optional()
    .describe("Secrets of webhook signatures; several, separated by commas, while one is being replaced")
    .meta({ example: "..." }),
  RAZORPAY_URL: z
    .url({ protocol: /^https?$/ })
    .default("https://api.razorpay.com/v1")
    .describe("Base URL of another provider of the dialect"),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe("The mail server: smtp with requireTLS, or smtps")
    .meta({
      unset:
        "no mail is sent; where APP_URL is not public it is shown at /outbox, to whoever has the key that the start prints",
      example: "smtp://user:password@relay.example:587?requireTLS=true",
    }),
  MAIL_FROM: z.email().optional().describe("The address that mails come from").meta({ example: "hello@berth.example" }),
  ...taxSettings,
  IDENTITY: word("local", "firebase")
    .default("local")
    .describe("Where accounts are kept: by the server, or by Firebase Authentication (docs/operate/hosted-sign-in.md)"),
  ...firebaseSettings,
  ...providerSettings,
  IDENTITY_SECRET: z
    .string()
    .min(32, "at least 32 characters")
    .optional()
    .describe("The secret that keys are derived from")
    .meta({ unset: "made once, kept in DATA_DIR", example: "..." }),
  SECOND_FACTOR: word("off", "optional", "required")
    .default("optional")
    .describe(
      "With IDENTITY=local: whether renters may or must sign in with a code of an authenticator app, or a passkey; off offers no new codes",
    ),
  BRAND_NAME: z.string().min(1).default("Berth").describe("The product's name on screens, mails and receipts"),
  CONTACT_EMAIL: z.email().default("hello@berth.example").describe("The seller's address on every page and receipt"),
  SUPPORT_NAME: z.string().min(1).default("Mira").describe("Name of the support contact"),
  SUPPORT_TELEGRAM: z
    .string()
    .regex(/^@?[A-Za-z]\w{3,31}$/, "the name of a Telegram account, such as mira_berth")
    .optional()
    .describe("Telegram account that support chats open with")
    .meta({ unset: "tickets are answered by bell and mail", example: "mira_berth" }),
  SUPPORT_TELEGRAM_KIND: word("person", "bot", "channel")
    .default("person")
    .describe("Kind of that account; only a person's chat opens with the message in it"),
  SUPPORT_CODE_PREFIX: z
    .string()
    .regex(/^[A-Z0-9]{2,8}$/, "2 to 8 capital letters or digits")
    .default("BRT")
    .describe("Prefix of support codes"),
  SUPPORT_ONLINE: yesNo.default(true).describe("Whether support is shown as online (the badge of the support page)"),
  SUPPORT_RESPONSE_TIME: z
    .string()
    .min(1)
    .max(80)
    .default("Usually within 1 hour")
    .describe("Response time of support, as shown"),
  BETA_STARTS_AT: z.iso
    .datetime()
    .optional()
    .describe("Start of the one-month beta")
    .meta({ unset: "the first start", example: "2026-11-21T00:00:00Z" }),
  ROLES: z
    .string()
    .default("api,gateway,worker")
    .describe("Roles of this process. Split roles need DATABASE_URL and one secret"),
  DRAIN_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .max(60)
    .default(0)
    .describe(
      "Seconds that a server which was told to stop goes on taking connections, while /readyz says 503, so that a load balancer notices",
    ),
  METRICS_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65535)
    .optional()
    .describe("Port for /healthz, /readyz and /metrics, of any role; a worker alone has no other address")
    .meta({ example: "9464" }),
  METRICS_HOST: z
    .string()
    .min(1)
    .default("127.0.0.1")
    .describe("The address that METRICS_PORT is opened on; metrics say how much is sold, so never a public one"),
  METRICS_TOKEN: z
    .string()
    .min(16, "at least 16 characters")
    .optional()
    .describe(
      "What /metrics asks for as a bearer token; environments of the process driver reach this machine's loopback",
    )
    .meta({ unset: "whoever reaches METRICS_PORT may read them", example: "..." }),
  CATALOGUE: z
    .string()
    .min(1)
    .optional()
    .describe("JSON file with what is sold: types, prices, durations, currencies (docs/operate/catalogue.md)")
    .meta({ unset: "the built-in catalogue", example: "catalogue.json" }),
  OPERATOR_PORT: z.coerce
    .number()
    .int()
    .min(1)
    .max(65535)
    .optional()
    .describe("Port of the operator's console, in any role")
    .meta({ unset: "no console", example: "3100" }),
  OPERATOR_HOST: z.string().min(1).default("127.0.0.1").describe("The address that the console listens on"),
  OPERATOR_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("The console's address behind a TLS proxy, without a path; needed when it is reachable from outside")
    .meta({ unset: "`http://localhost:{OPERATOR_PORT}`", example: "https://operator.berth.example" }),
  OPERATOR_SECOND_FACTOR: yesNo
    .optional()
    .describe("Whether operators sign in with a second factor; never off when the console is reachable from outside")
    .meta({ unset: "true when it is reachable from outside" }),
  WARM_POOL: z
    .string()
    .regex(new RegExp(`^(${poolOf}(,${poolOf})*)?$`), "such as jupyter=2,pytorch=1")
    .default("")
    .describe("With RUNTIME=docker or kubernetes: runs of one GPU ready on each host (a cluster is one), by type")
    .meta({ example: "jupyter=2,pytorch=1" }),
  SLOTS: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .optional()
    .describe("CPU slots offered on a host without GPUs; with live keys none are sold")
    .meta({ unset: "8, or as many as its memory is enough for", example: "8" }),
  PROCESS_NETWORK: word("shared", "off")
    .default("shared")
    .describe("Network of runs of the process driver; off: none inside environments"),
  FAKE_DRIVER: z
    .string()
    .regex(/^(\w+=[\d.]+(,\w+=[\d.]+)*)?$/, "such as startMs=200,fail=0.1")
    .default("")
    .describe("Behaviour of the fake driver")
    .meta({ example: "startMs=200,fail=0.1,silent=0.1" }),
  GIVE_UP_AFTER: count(600).describe("Seconds from payment to the refund of a failed launch"),
  GPUS_PER_USER: count(8).describe("Limit of GPUs per account"),
  LAUNCHES_PER_USER: count(3).describe("Limit of concurrent launches per account"),
  ORDERS_PER_MINUTE: count(20).describe("Limit of orders per account and minute"),
  NEWCOMER_SHARE: z.coerce
    .number()
    .gt(0)
    .max(1)
    .default(0.5)
    .describe("Share of the free GPUs that an account without a payment may order; 1 among people you know"),
  RETENTION_DAYS: count(30).describe("Days that files are kept after the last session"),
  MINING: word("ask", "stop", "off")
    .default("ask")
    .describe(
      "Where crypto mining is found: ask a person, stop by itself where a known miner, a pool and the load of the GPUs agree, or do not look",
    ),
  REQUESTS_PER_MINUTE: count(300).describe(
    "Limit of requests per sign-in and minute; all of a user together have twice as many",
  ),
  ANONYMOUS_PER_MINUTE: count(120).describe("Limit of requests without a sign-in per network and minute"),
  UNAUTHENTICATED_PER_MINUTE: count(20).describe("Limit of requests with an invalid token per network and minute"),
  SIGN_INS_PER_MINUTE: count(10).describe("Limit of sign-in attempts per account, network and minute"),
  RESET_MAILS_PER_HOUR: count(3).describe("Limit of mailed links per account and hour"),
  NETWORK_MAILS_PER_HOUR: count(20).describe(
    "Limit of mailed links (to reset or confirm) per network and hour; an IPv6 network is a /64",
  ),
  NETWORK_MAILS_PER_DAY: count(60).describe("Limit of mailed links per network and day"),
  DOMAIN_MAILS_PER_DAY: count(2000).describe("Limit of mailed links per mail domain and day"),
  TRUST_PROXY: z
    .string()
    .optional()
    .describe("Addresses of your reverse proxies, comma-separated, trusted for clients' addresses")
    .meta({ unset: "all visitors behind a proxy count as one address", example: "127.0.0.1" }),
  UNSAFE_PUBLIC_PROCESS_DRIVER: yesNo
    .default(false)
    .describe("Permits the process driver for strangers, who then share this machine without isolation"),
  LOG_LEVEL: word("fatal", "error", "warn", "info", "debug", "trace", "silent")
    .default("info")
    .describe("Minimum level of logged lines"),
});

export type Settings = z.output<typeof settings>;
