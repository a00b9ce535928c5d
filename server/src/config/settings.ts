import { containerTypes } from "@berth/contract";
import * as z from "zod";
import { isGstin } from "./gstin.ts";

const word = <const W extends readonly [string, ...string[]]>(...words: W) => z.enum(words);
const yesNo = word("true", "false").transform((value) => value === "true");
const count = (fallback: number) => z.coerce.number().int().positive().default(fallback);

/** Pattern of one entry of WARM_POOL: type=count. */
const poolOf = `(${containerTypes.join("|")})=\\d{1,2}`;

/** All settings with validation, default and description. */
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
    .describe("The app's public address, without a path"),
  ENV_HOST: z
    .string()
    .regex(/^[a-z0-9.-]+$/, "a lower-case host name without a port")
    .default("localhost")
    .describe("Environments are at {subdomain}.{ENV_HOST}"),
  DATA_DIR: z.string().min(1).default("./data").describe("Secrets, homes and the embedded database"),
  RUNTIMES_DIR: z.string().min(1).optional().describe("Prepared Python runtimes, when several data folders share them"),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe("A PostgreSQL of your own instead of the embedded one"),
  RUNTIME: word("process", "docker", "fake").default("process").describe("Driver of environments"),
  DOCKER_HOST: z
    .string()
    .default("unix:///var/run/docker.sock")
    .describe("Unix socket of this machine's Docker Engine"),
  SSH_AUTH_SOCK: z.string().optional().describe("SSH agent with the keys of remote hosts"),
  DOCKER_REACH: word("published", "network")
    .default("published")
    .describe("Endpoints of runs: published ports, or own addresses if the server is a container too"),
  PAYMENTS: word("embedded", "razorpay").optional().describe("Confirms the payment provider"),
  RAZORPAY_KEY_ID: z
    .string()
    .regex(/^rzp_(test|live)_\w+$/, "rzp_test_... or rzp_live_...")
    .optional()
    .describe("The key of the Razorpay account"),
  RAZORPAY_KEY_SECRET: z.string().min(1).optional().describe("The secret of that key"),
  RAZORPAY_WEBHOOK_SECRET: z
    .string()
    .min(1)
    .optional()
    .describe("Secrets of webhook signatures, separated by commas during a rotation"),
  RAZORPAY_URL: z
    .url({ protocol: /^https?$/ })
    .default("https://api.razorpay.com/v1")
    .describe("The provider's base URL; other values are for tests"),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe("The mail server; without it no mail is sent"),
  MAIL_FROM: z.email().optional().describe("The address that mails come from"),
  TAX_GSTIN: z
    .string()
    .refine(isGstin, "a GSTIN of 15 characters, whose last one checks the others")
    .optional()
    .describe("The seller's GST number in India; without it receipts have no tax"),
  TAX_LEGAL_NAME: z.string().min(1).max(120).optional().describe("The seller's registered name"),
  TAX_ADDRESS: z.string().min(1).max(240).optional().describe("The seller's registered address"),
  TAX_LUT: z
    .string()
    .regex(/^[A-Z0-9]{8,20}$/, "the reference number (ARN) of a letter of undertaking")
    .optional()
    .describe("The letter of undertaking for exports without tax"),
  IDENTITY: word("local").default("local").describe("Identity provider"),
  IDENTITY_SECRET: z
    .string()
    .min(32, "at least 32 characters")
    .optional()
    .describe("The secret that keys are derived from, instead of the one in the data folder"),
  BRAND_NAME: z.string().min(1).default("Berth").describe("The product's name on screens, mails and receipts"),
  CONTACT_EMAIL: z.email().default("hello@berth.example").describe("The seller's address on every page and receipt"),
  SUPPORT_NAME: z.string().min(1).default("Mira").describe("Name of the support contact"),
  SUPPORT_TELEGRAM: z
    .string()
    .regex(/^@?[A-Za-z]\w{3,31}$/, "the name of a Telegram account, such as mira_berth")
    .optional()
    .describe("Telegram account for support"),
  SUPPORT_TELEGRAM_KIND: word("person", "bot", "channel")
    .default("person")
    .describe("Kind of that account; only a person's accepts a prefilled message"),
  SUPPORT_CODE_PREFIX: z
    .string()
    .regex(/^[A-Z0-9]{2,8}$/, "2 to 8 capital letters or digits")
    .default("BRT")
    .describe("Prefix of support codes"),
  SUPPORT_ONLINE: yesNo.default(true).describe("Whether support is shown as online"),
  SUPPORT_RESPONSE_TIME: z
    .string()
    .min(1)
    .max(80)
    .default("Usually within 1 hour")
    .describe("Response time of support, as shown"),
  BETA_STARTS_AT: z.iso.datetime().optional().describe("Start of the one-month beta; default: the first start"),
  ROLES: z.string().default("api,gateway,worker").describe("Roles of this process: a list of api, gateway, worker"),
  METRICS_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65535)
    .optional()
    .describe("Port on loopback for /healthz and /readyz"),
  WARM_POOL: z
    .string()
    .regex(new RegExp(`^(${poolOf}(,${poolOf})*)?$`), "such as jupyter=2,pytorch=1")
    .default("")
    .describe("Warm runs on each host, by type"),
  SLOTS: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .optional()
    .describe("Environments on a host without GPUs; default: as many as its memory allows"),
  PROCESS_NETWORK: word("shared", "off")
    .default("shared")
    .describe("Whether runs of the process driver have a network"),
  FAKE_DRIVER: z
    .string()
    .regex(/^(\w+=[\d.]+(,\w+=[\d.]+)*)?$/, "such as startMs=200,fail=0.1")
    .default("")
    .describe("Behaviour of the fake driver; for tests"),
  GIVE_UP_AFTER: count(600).describe(
    "Seconds from payment to the refund of a failed launch; other values are for tests",
  ),
  GPUS_PER_USER: count(8).describe("Limit of GPUs per account"),
  LAUNCHES_PER_USER: count(3).describe("Limit of concurrent launches per account"),
  ORDERS_PER_MINUTE: count(20).describe("Limit of orders per account and minute"),
  NEWCOMER_SHARE: z.coerce
    .number()
    .gt(0)
    .max(1)
    .default(0.5)
    .describe("Share of the free GPUs that an account without a payment may order"),
  RETENTION_DAYS: count(30).describe("Days that files are kept after the last session"),
  REQUESTS_PER_MINUTE: count(300).describe("Limit of requests per sign-in and minute"),
  ANONYMOUS_PER_MINUTE: count(120).describe("Limit of requests without a sign-in per network and minute"),
  UNAUTHENTICATED_PER_MINUTE: count(20).describe("Limit of requests with an invalid token per network and minute"),
  SIGN_INS_PER_MINUTE: count(10).describe("Limit of sign-in attempts per account, network and minute"),
  RESET_MAILS_PER_HOUR: count(3).describe("Limit of mailed links per account and hour"),
  NETWORK_MAILS_PER_HOUR: count(20).describe("Limit of mailed links per network and hour"),
  NETWORK_MAILS_PER_DAY: count(60).describe("Limit of mailed links per network and day"),
  DOMAIN_MAILS_PER_DAY: count(2000).describe("Limit of mailed links per mail domain and day"),
  TRUST_PROXY: z.string().optional().describe("Addresses of reverse proxies that are trusted for clients' addresses"),
  UNSAFE_PUBLIC_PROCESS_DRIVER: yesNo.default(false).describe("Permits the process driver for the public"),
  LOG_LEVEL: word("fatal", "error", "warn", "info", "debug", "trace", "silent")
    .default("info")
    .describe("Minimum level of logged lines"),
});

export type Settings = z.output<typeof settings>;
