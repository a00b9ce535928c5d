import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { readConfig } from "./config.ts";
import { settings } from "./settings.ts";
import { problemsOf, testKeys } from "./testing/problems-of.ts";

const gst = { TAX_GSTIN: "27AAPFU0939F1ZV", TAX_LEGAL_NAME: "Pier LLP", TAX_ADDRESS: "1 Dock Road" };

test("an empty environment is valid", () => {
  const config = readConfig({});
  expect(config).toMatchObject({ port: 3000, host: "127.0.0.1", envHost: "localhost", runtime: "process" });
  expect(config.database.kind).toBe("embedded");
  expect(config.payments.kind).toBe("embedded");
  expect(config.caps.newcomerShare).toBe(0.5);
});

const oidc = { OIDC_1_ISSUER: "https://id.example", OIDC_1_CLIENT_ID: "berth", OIDC_1_CLIENT_SECRET: "hidden" };
const firebase = { IDENTITY: "firebase", FIREBASE_PROJECT_ID: "berth-1a2b3", FIREBASE_API_KEY: "any" };
test("a service account's key is read, of the same project only", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-firebase-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "key.json");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ format: "pem", type: "pkcs8" }) as string;
  const write = (project: string) =>
    writeFileSync(file, JSON.stringify({ project_id: project, client_email: "a@b.example", private_key: key }));
  const source = { ...firebase, FIREBASE_SERVICE_ACCOUNT: file };
  write("berth-1a2b3");
  expect(readConfig(source).firebase).toEqual({
    ...{ projectId: "berth-1a2b3", apiKey: "any", emulator: undefined },
    serviceAccount: { clientEmail: "a@b.example", privateKey: key },
  });
  write("other-project");
  expect(() => readConfig(source)).toThrow("is a key of the project other-project, not of FIREBASE_PROJECT_ID");
});

const cluster = { RUNTIME: "kubernetes", KUBERNETES_IMAGES: "jupyter=registry.example/berth/jupyter:1" };

test.each([
  ["half a pair of keys", { RAZORPAY_KEY_ID: "rzp_test_abc" }, "set both, or neither"],
  ["the other half", { RAZORPAY_KEY_SECRET: "s" }, "set both, or neither"],
  ["a webhook secret without keys", { RAZORPAY_WEBHOOK_SECRET: "w" }, "RAZORPAY_WEBHOOK_SECRET needs"],
  ["razorpay without keys", { PAYMENTS: "razorpay" }, "PAYMENTS=razorpay needs"],
  ["embedded beside test keys", { ...testKeys, PAYMENTS: "embedded" }, "exclude each other"],
  ["a key of no known mode", { ...testKeys, RAZORPAY_KEY_ID: "rzp_prod_abc" }, "RAZORPAY_KEY_ID"],
  ["a key of the embedded provider", { ...testKeys, RAZORPAY_KEY_ID: "embedded_abc" }, "RAZORPAY_KEY_ID"],
  ["a hosted provider without its project", { IDENTITY: "firebase" }, "FIREBASE_PROJECT_ID and FIREBASE_API_KEY"],
  ["a hosted provider without a service account", firebase, "IDENTITY=firebase needs FIREBASE_SERVICE_ACCOUNT"],
  ["a project that nobody signs in to", { FIREBASE_PROJECT_ID: "berth-1a2b3" }, "only with IDENTITY=firebase"],
  ["a service account that is not there", { ...firebase, FIREBASE_SERVICE_ACCOUNT: "/nowhere.json" }, "cannot be read"],
  ["one that is another file", { ...firebase, FIREBASE_SERVICE_ACCOUNT: "package.json" }, "is not the JSON key"],
  ["an emulator on another machine", { ...firebase, FIREBASE_AUTH_EMULATOR_HOST: "10.0.0.5:9099" }, "of this machine"],
  [
    "an emulator for strangers",
    { ...firebase, FIREBASE_AUTH_EMULATOR_HOST: "127.0.0.1:9099", APP_URL: "https://berth.dev", PAYMENTS: "embedded" },
    "lets anybody in as anybody",
  ],
  [
    "a provider without a secret",
    { OIDC_2_ISSUER: "https://id.example", OIDC_2_CLIENT_ID: "b" },
    "OIDC_2_CLIENT_SECRET: set all three",
  ],
  ["a provider's name alone", { OIDC_1_NAME: "Google" }, "OIDC_1_CLIENT_SECRET: set all three"],
  ["a provider over plain HTTP", { ...oidc, OIDC_1_ISSUER: "http://id.example" }, "the issuer's https address"],
  ["domains that are addresses", { ...oidc, OIDC_1_DOMAINS: "ada@uni.example" }, "OIDC_1_DOMAINS: such as"],
  ["half of a GitHub app", { GITHUB_CLIENT_ID: "b" }, "GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET: set both"],
  [
    "another provider beside a hosted one",
    { ...firebase, FIREBASE_AUTH_EMULATOR_HOST: "127.0.0.1:9099", ...oidc },
    "with IDENTITY=firebase that service signs people in",
  ],
  ["an engine over plain TCP", { RUNTIME: "docker", DOCKER_HOST: "tcp://10.0.0.5:2375" }, "over TCP anybody"],
  ["an engine on another machine", { RUNTIME: "docker", DOCKER_HOST: "ssh://root@host" }, "on this machine"],
  ["a cluster without images", { RUNTIME: "kubernetes" }, "RUNTIME=kubernetes needs KUBERNETES_IMAGES"],
  ["a backup of volumes", { ...cluster, BACKUP: "/var/lib/berth-backups with homes" }, "BACKUP without homes"],
  ["an image without a name", { ...cluster, KUBERNETES_IMAGES: "jupyter" }, "KUBERNETES_IMAGES: such as"],
  ["clients by name", { ...cluster, KUBERNETES_CLIENTS: "gateway.example" }, "KUBERNETES_CLIENTS: such as"],
  [
    "a backup without a folder",
    { BACKUP: "every 24h" },
    "BACKUP: such as /var/lib/berth-backups every 24h keep 7 with homes",
  ],
  ["a backup every 0 hours", { BACKUP: "/var/lib/berth-backups every 0h" }, "BACKUP: such as /var/lib/berth-backups"],
  ["a backup every 2 minutes", { BACKUP: "/var/lib/berth-backups every 2m" }, "in hours (h) or days (d)"],
  ["a warm pool of processes", { WARM_POOL: "jupyter=1" }, "WARM_POOL needs RUNTIME=docker or kubernetes"],
  [
    "a warm pool of an unknown type",
    { RUNTIME: "docker", WARM_POOL: "julia=1" },
    "WARM_POOL: such as jupyter=2,pytorch=1",
  ],
  ["the process driver in public", { HOST: "0.0.0.0" }, "binds loopback only"],
  ["the process driver in public by SSH", { SSH_HOST: "0.0.0.0" }, "SSH_HOST is public"],
  ["a port of SSH that is none", { SSH_PORT: "70000" }, "SSH_PORT: a port, or off"],
  ["the app's port for SSH", { SSH_PORT: "3000" }, "SSH_PORT: another port than PORT"],
  ["a public address without keys", { APP_URL: "https://berth.example" }, "no payment keys"],
  ["a mail server without a sender", { SMTP_URL: "smtp://relay.example" }, "SMTP_URL needs MAIL_FROM"],
  ["an invalid mail server", { SMTP_URL: "http://relay.example" }, "SMTP_URL"],
  ["a mistyped GSTIN", { ...gst, TAX_GSTIN: "27AAPFU0939F1ZW" }, "TAX_GSTIN"],
  ["a GSTIN without a name", { ...gst, TAX_LEGAL_NAME: undefined }, "set all three"],
  ["an address without a GSTIN", { TAX_ADDRESS: "1 Dock Road" }, "set all three"],
  ["a letter of undertaking without a GSTIN", { TAX_LUT: "AD270326000000X" }, "TAX_LUT"],
  ["an unknown role", { ROLES: "api,cook", DATABASE_URL: "postgres://h/d" }, "ROLES"],
  ["split roles on the embedded database", { ...testKeys, ROLES: "api" }, "split roles need"],
  ["one port used twice", { METRICS_PORT: "3000" }, "METRICS_PORT and PORT: two different ports"],
  ["the app's port as the console's", { OPERATOR_PORT: "3000" }, "OPERATOR_PORT, PORT and METRICS_PORT: different"],
  [
    "the metrics' port as the console's",
    { OPERATOR_PORT: "9100", METRICS_PORT: "9100" },
    "OPERATOR_PORT, PORT and METRICS_PORT: different",
  ],
  [
    "a public console without TLS",
    { OPERATOR_PORT: "1", OPERATOR_HOST: "0.0.0.0" },
    "OPERATOR_URL has to be its https",
  ],
  [
    "a public console over plain HTTP",
    { OPERATOR_PORT: "1", OPERATOR_URL: "http://desk.example" },
    "OPERATOR_URL has to be its https",
  ],
  [
    "a public console without a second factor",
    { OPERATOR_PORT: "1", OPERATOR_URL: "https://desk.example", OPERATOR_SECOND_FACTOR: "false" },
    "OPERATOR_SECOND_FACTOR=false is for loopback only",
  ],
  ["a share over 1", { NEWCOMER_SHARE: "1.5" }, "NEWCOMER_SHARE"],
  ["an invalid port", { PORT: "70000" }, "PORT"],
  ["an invalid boolean", { UNSAFE_PUBLIC_PROCESS_DRIVER: "yes" }, "UNSAFE_PUBLIC_PROCESS_DRIVER"],
])("refuses %s", (_, source, message) => {
  expect(problemsOf(source)).toEqual([expect.stringContaining(message)]);
});

test("G416 providers of a sign-in are numbered, with a name for the button and domains", () => {
  const third = { OIDC_3_ISSUER: "https://id.example/realms/uni", OIDC_3_CLIENT_ID: "b", OIDC_3_CLIENT_SECRET: "c" };
  const { providers } = readConfig({
    ...oidc,
    ...third,
    OIDC_3_NAME: "Uni",
    OIDC_3_DOMAINS: "Uni.example, lab.example",
  });
  const client = { clientId: "b", clientSecret: "c" };
  expect(providers.oidc).toEqual([
    {
      key: "1",
      name: "id.example",
      issuer: "https://id.example/",
      clientId: "berth",
      clientSecret: "hidden",
      domains: [],
    },
    { key: "3", name: "Uni", issuer: third.OIDC_3_ISSUER, ...client, domains: ["uni.example", "lab.example"] },
  ]);
  expect(readConfig({ GITHUB_CLIENT_ID: "b", GITHUB_CLIENT_SECRET: "c" }).providers.github).toEqual({
    url: "https://github.com",
    ...client,
  });
});

test("invalid and conflicting settings are reported together, each once (D16)", () => {
  const problems = problemsOf({
    ...testKeys,
    RAZORPAY_KEY_SECRET: undefined,
    PORT: "x",
    SMTP_URL: "ftp://relay",
    MAIL_FROM: "x",
  });
  expect(problems).toEqual([
    expect.stringMatching(/^PORT: /),
    expect.stringMatching(/^SMTP_URL: /),
    expect.stringMatching(/^MAIL_FROM: /),
    "RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET: set both, or neither for the embedded provider",
  ]);
});

test("the warm pool's size by type", () => {
  expect(readConfig({ RUNTIME: "docker", WARM_POOL: "jupyter=2,pytorch=1" }).warmPool).toEqual({
    jupyter: 2,
    pytorch: 1,
  });
  expect(readConfig({ ...cluster, WARM_POOL: "jupyter=1" }).warmPool).toEqual({ jupyter: 1 });
  expect(readConfig({}).warmPool).toEqual({});
});

test("the limits of mailed links per account, network and domain", () => {
  const mails = { linksPerHour: 3, networkPerHour: 20, networkPerDay: 60, domainPerDay: 2000 };
  expect(readConfig({}).limits.mails).toEqual(mails);
  const set = { NETWORK_MAILS_PER_HOUR: "5", NETWORK_MAILS_PER_DAY: "6", DOMAIN_MAILS_PER_DAY: "7" };
  expect(readConfig(set).limits.mails).toEqual({
    linksPerHour: 3,
    networkPerHour: 5,
    networkPerDay: 6,
    domainPerDay: 7,
  });
  expect(problemsOf({ NETWORK_MAILS_PER_DAY: "0" })).toEqual([expect.stringContaining("NETWORK_MAILS_PER_DAY")]);
});

test("G143 the console: none by default, on loopback without a second factor, from outside with one", () => {
  expect(readConfig({}).console).toBeUndefined();
  expect(readConfig({ OPERATOR_PORT: "3100" }).console).toEqual({
    ...{ port: 3100, host: "127.0.0.1", url: undefined, needsSecondFactor: false },
  });
  expect(readConfig({ OPERATOR_PORT: "3100", OPERATOR_SECOND_FACTOR: "true" }).console?.needsSecondFactor).toBe(true);
  expect(readConfig({ OPERATOR_PORT: "3100", OPERATOR_URL: "https://desk.example/" }).console).toEqual({
    ...{ port: 3100, host: "127.0.0.1", url: "https://desk.example", needsSecondFactor: true },
  });
});

test("one message has every problem, and no secret", () => {
  const read = () => readConfig({ RAZORPAY_KEY_SECRET: "hush-hush", HOST: "0.0.0.0" });
  expect(read).toThrow(/set both.*\n.*binds loopback/s);
  expect(read).not.toThrow(/hush-hush/);
});

/** Settings without a description. */
const undescribed = ({ shape }: z.ZodObject) =>
  Object.entries(shape).flatMap(([name, { description }]) => (description ? [] : [name]));

test("the schema describes every setting, and one without a description is found", () => {
  expect(undescribed(settings)).toEqual([]);
  expect(undescribed(settings.extend({ PLANTED: z.string().optional() }))).toEqual(["PLANTED"]);
});

test("BACKUP names a folder, and what is not said has a default", () => {
  const read = (BACKUP: string) => readConfig({ BACKUP }).backup;
  expect(read("")).toBeUndefined();
  expect(read("/b")).toEqual({ folder: "/b", everyHours: 24, keep: 7, withHomes: false });
  expect(read("/b every 2d keep 14 with homes")).toEqual({ folder: "/b", everyHours: 48, keep: 14, withHomes: true });
  expect(read("/b keep 3")).toEqual({ folder: "/b", everyHours: 24, keep: 3, withHomes: false });
});

test("settings of a cluster are lists and pairs", () => {
  const { kubernetes } = readConfig({
    ...cluster,
    KUBERNETES_NODE_SELECTOR: "pool=gpu,zone=a",
    KUBERNETES_CLIENTS: "192.0.2.0/28,2001:db8::/64",
    KUBERNETES_CLOSED_NETWORKS: "2001:db8:1::/112",
  });
  expect(kubernetes).toEqual({
    namespace: "berth",
    images: { jupyter: "registry.example/berth/jupyter:1" },
    nodeSelector: { pool: "gpu", zone: "a" },
    clients: ["192.0.2.0/28", "2001:db8::/64"],
    closed: ["2001:db8:1::/112"],
  });
});
