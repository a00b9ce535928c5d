import { firebaseSettings } from "./firebase-settings.ts";
import { providerConflicts } from "./provider-settings.ts";
import type { Settings } from "./settings.ts";

export type Role = "api" | "gateway" | "worker";

const hasKeys = (v: Settings) => Boolean(v.RAZORPAY_KEY_ID || v.RAZORPAY_KEY_SECRET);
export const isLive = (v: Settings) => v.RAZORPAY_KEY_ID?.startsWith("rzp_live_") ?? false;
const rolesOf = (v: Settings) => v.ROLES.split(",");

const firebaseNames = Object.keys(firebaseSettings) as (keyof typeof firebaseSettings)[];

/** Conflicting settings, with the message for the operator. */
const conflictTable: readonly (readonly [when: (v: Settings) => boolean, message: string])[] = [
  [
    (v) => Boolean(v.RAZORPAY_KEY_ID) !== Boolean(v.RAZORPAY_KEY_SECRET),
    "RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET: set both, or neither for the embedded provider",
  ],
  [
    (v) => Boolean(v.RAZORPAY_WEBHOOK_SECRET) && !hasKeys(v),
    "RAZORPAY_WEBHOOK_SECRET needs RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET: the embedded provider has a secret of its own",
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
    "RUNTIME=process is for one's own machine, not for customers of live keys; UNSAFE_PUBLIC_PROCESS_DRIVER=true overrides",
  ],
  [
    (v) => v.RUNTIME === "docker" && !v.DOCKER_HOST.startsWith("unix:///"),
    "DOCKER_HOST: the engine's Unix socket on this machine, such as unix:///var/run/docker.sock; over TCP anybody who can reach it is root",
  ],
  [
    (v) => v.RUNTIME === "kubernetes" && !/(^|,)jupyter=/.test(v.KUBERNETES_IMAGES),
    "RUNTIME=kubernetes needs KUBERNETES_IMAGES: an image that the nodes can fetch for each type, jupyter at least",
  ],
  [
    (v) => v.RUNTIME === "kubernetes" && (v.BACKUP ?? "").endsWith(" with homes"),
    "BACKUP without homes: with RUNTIME=kubernetes owners' files are volumes of the cluster, to be backed up there",
  ],
  [(v) => isLive(v) && !v.DATABASE_URL, "live keys need DATABASE_URL: a PostgreSQL of your own, with backups"],
  [
    (v) => isLive(v) && !(isPublic(v.APP_URL) && v.APP_URL?.startsWith("https:")),
    "live keys need APP_URL: a public https address, reachable for the provider and buyers",
  ],
  [
    (v) => isLive(v) && secretsOf(v).length === 0,
    "live keys need RAZORPAY_WEBHOOK_SECRET: what the provider signs with",
  ],
  [
    (v) => isLive(v) && !v.SMTP_URL,
    "live keys need SMTP_URL: buyers get verification links and payment notices by mail",
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
    (v) =>
      v.RUNTIME === "process" && v.SSH_HOST !== undefined && !isLoopback(v.SSH_HOST) && !v.UNSAFE_PUBLIC_PROCESS_DRIVER,
    "SSH_HOST is public: the process driver is for one's own machine; UNSAFE_PUBLIC_PROCESS_DRIVER=true overrides",
  ],
  [
    (v) => v.RUNTIME === "process" && v.WARM_POOL !== "",
    "WARM_POOL needs RUNTIME=docker or kubernetes: a run of the process driver cannot stand ready",
  ],
  [
    (v) => isPublic(v.APP_URL) && !hasKeys(v) && v.PAYMENTS !== "embedded",
    "APP_URL is public and there are no payment keys: set them, or PAYMENTS=embedded for a test installation",
  ],
  [
    (v) => v.IDENTITY === "firebase" && !(v.FIREBASE_PROJECT_ID && v.FIREBASE_API_KEY),
    "IDENTITY=firebase needs FIREBASE_PROJECT_ID and FIREBASE_API_KEY: the project whose accounts sign in",
  ],
  [
    (v) =>
      Boolean(v.FIREBASE_PROJECT_ID) &&
      v.IDENTITY === "firebase" &&
      !v.FIREBASE_SERVICE_ACCOUNT &&
      !v.FIREBASE_AUTH_EMULATOR_HOST,
    "IDENTITY=firebase needs FIREBASE_SERVICE_ACCOUNT: the JSON key of a service account, or FIREBASE_AUTH_EMULATOR_HOST to try it out",
  ],
  [
    (v) =>
      Boolean(v.FIREBASE_AUTH_EMULATOR_HOST) &&
      (Boolean(v.FIREBASE_SERVICE_ACCOUNT) || isPublic(v.APP_URL) || isLive(v)),
    "FIREBASE_AUTH_EMULATOR_HOST lets anybody in as anybody: not with FIREBASE_SERVICE_ACCOUNT, a public APP_URL or live keys",
  ],
  [
    (v) => v.IDENTITY === "firebase" && v.SECOND_FACTOR === "required",
    "SECOND_FACTOR=required is for IDENTITY=local: with IDENTITY=firebase the second factor is the provider's",
  ],
  [
    (v) => v.IDENTITY === "local" && firebaseNames.some((name) => v[name] !== undefined),
    `${firebaseNames.join(", ")}: only with IDENTITY=firebase`,
  ],
  [(v) => Boolean(v.SMTP_URL) && !v.MAIL_FROM, "SMTP_URL needs MAIL_FROM: the address that mails come from"],
  [
    (v) => Boolean(v.TAX_GSTIN) !== Boolean(v.TAX_LEGAL_NAME) || Boolean(v.TAX_GSTIN) !== Boolean(v.TAX_ADDRESS),
    "TAX_GSTIN, TAX_LEGAL_NAME and TAX_ADDRESS: set all three, or none for receipts without tax",
  ],
  [(v) => Boolean(v.TAX_LUT) && !v.TAX_GSTIN, "TAX_LUT is for exports of a seller with a TAX_GSTIN"],
  [(v) => rolesOf(v).some((role) => !isRole(role)), "ROLES: a comma-separated list of api, gateway, worker"],
  [
    (v) => v.METRICS_PORT !== undefined && v.METRICS_PORT !== 0 && v.METRICS_PORT === v.PORT,
    "METRICS_PORT and PORT: two different ports",
  ],
  [
    (v) => Number(v.SSH_PORT) > 0 && [v.PORT, v.METRICS_PORT, v.OPERATOR_PORT].includes(Number(v.SSH_PORT)),
    "SSH_PORT: another port than PORT, METRICS_PORT and OPERATOR_PORT",
  ],
  [
    (v) => v.OPERATOR_PORT !== undefined && [v.PORT, v.METRICS_PORT].includes(v.OPERATOR_PORT),
    "OPERATOR_PORT, PORT and METRICS_PORT: different ports",
  ],
  [
    (v) => isConsolePublic(v) && !v.OPERATOR_URL?.startsWith("https:"),
    "the operator's console is reachable from outside: OPERATOR_URL has to be its https address, behind a TLS proxy",
  ],
  [
    (v) => isConsolePublic(v) && v.OPERATOR_SECOND_FACTOR === false,
    "the operator's console is reachable from outside: OPERATOR_SECOND_FACTOR=false is for loopback only",
  ],
  [
    (v) => Boolean(v.DATABASE_LISTEN_URL) && !v.DATABASE_URL,
    "DATABASE_LISTEN_URL needs DATABASE_URL: the embedded database has no pooler in front",
  ],
  [(v) => rolesOf(v).length < 3 && !v.DATABASE_URL, "ROLES: split roles need DATABASE_URL (G99)"],
];

export function conflicts(v: Settings): string[] {
  return [...conflictTable.filter(([when]) => when(v)).map(([, message]) => message), ...providerConflicts(v)];
}

/** Several secrets are valid during a rotation. */
export function secretsOf({ RAZORPAY_WEBHOOK_SECRET: text = "" }: Settings): string[] {
  return text
    .split(",")
    .map((secret) => secret.trim())
    .filter((secret) => secret !== "");
}

function isRole(role: string): role is Role {
  return role === "api" || role === "gateway" || role === "worker";
}

/** Whether the operator's console is reachable from other machines, by its own address or through a proxy. */
export function isConsolePublic(v: Settings): boolean {
  return v.OPERATOR_PORT !== undefined && (!isLoopback(v.OPERATOR_HOST) || isPublic(v.OPERATOR_URL));
}

export function isPublic(url: string | undefined): boolean {
  return url !== undefined && !isLoopback(new URL(url).hostname);
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127\./.test(host);
}
