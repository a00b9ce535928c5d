import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { builtServer } from "../server/src/testing/built-programs.ts";
import { removeFolder, startProduct, temporaryFolder } from "../testing/product.ts";
import type { StartCounts } from "./testing/count-start.ts";

/**
 * Modules that a start with embedded defaults and all roles may load, by package or folder of ours, with room for a
 * few more. A part that grows past its row is loaded when it is needed, or its row says why not.
 */
const budgets: Readonly<Record<string, number>> = {
  all: 1190,
  // Five for the second factor, open sign-ins, ports and the bar in JupyterLab, and one for counting words.
  // One each for SSH keys, passkeys, other providers' sign-ins and the words of devices in mails (G427).
  contract: 58,
  // One for each group of settings: the provider, taxes, Firebase, Kubernetes, SSH.
  "server/src/config": 15,
  "server/src/database": 20,
  // The one of the settings; that of Docker is loaded for hosts that an operator added.
  "server/src/drivers": 40,
  // Four for ports (G385) and the bar in JupyterLab (G392): what the run lists, what it is asked by, and what was booked.
  // One for the unit that a receipt counts in (G307).
  "server/src/environments": 109,
  // Five for the bar in JupyterLab: its state, facts, sentences and Stop, and who its owner is (G392, G394); three for ports;
  // five for SSH (G405), which loads the rest at its first connection.
  "server/src/gateway": 72,
  "server/src/http": 30,
  // Six for the second factor of renters, which signing in and the settings need (G398). Six for passkeys (G424), whose library
  // the first use loads. Two for the notice of a new browser (G427). Nine for sign-in by other providers (G416), whose library the
  // first such sign-in loads.
  "server/src/identity": 56,
  // Two for the methods beside cards: the test methods, and UPI IDs shortened (G365, G367).
  "server/src/payments": 74,
  "each other folder of ours": 14,
  fastify: 36,
  // By its parts: the whole is 46.
  jose: 20,
  kysely: 260,
  pg: 18,
  semver: 50,
  zod: 110,
  "each other package": 14,
};

/** What a part of the product needs, and no start. */
const heavy = [
  "@fastify/ajv-compiler",
  "@fastify/swagger",
  "@grpc/grpc-js",
  "@kubernetes/client-node",
  "@opentelemetry/api",
  "@simplewebauthn/server",
  "ajv",
  "dockerode",
  "nodemailer",
  "pdfkit",
  "protobufjs",
  "ssh2",
  "yaml",
];

const preload = new URL("./testing/count-start.ts", import.meta.url);
const root = new URL("../", import.meta.url).href;
/** Whose modules say what grew; the bundle has them in few files. */
const sources = fileURLToPath(new URL("../server/src/main.ts", import.meta.url));

test("a start loads no more modules than its budgets, none of the heavy packages, and compresses nothing", async () => {
  const { modules, compressed } = await countStart(sources);
  const groups = Map.groupBy(new Set(modules), groupOf);
  // Joined, because a list is cut in the message.
  expect.soft([...groups.keys()].filter((name) => heavy.includes(name)).join()).toBe("");
  const grown = [...groups, ["all", modules] as const].flatMap(([name, { length }]) =>
    length > budgetOf(name) ? [`${name}: ${length} modules, at most ${budgetOf(name)}`] : [],
  );
  expect.soft(grown.join("\n")).toBe("");
  expect.soft(compressed.map(({ bytes, by }) => `${bytes} bytes ${by}`).join("\n")).toBe("");
});

test("G331 a start of the bundle reads few files and loads no package but the one of metrics", async () => {
  const { modules } = await countStart(builtServer);
  const files = [...new Set(modules)].map((url) => fileURLToPath(url));
  const others = files.filter((path) => !path.startsWith(dirname(builtServer)));
  expect
    .soft([...new Set(others.map((path) => groupOf(pathToFileURL(path).href)))].join())
    .toBe("@prometheus-io/client");
  expect.soft(files.length).toBeLessThan(110);
  expect.soft(files.reduce((bytes, path) => bytes + statSync(path).size, 0)).toBeLessThan(3_800_000);
});

async function countStart(program: string): Promise<StartCounts> {
  const folder = temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  const report = join(folder, "counts.json");
  const hook = `${preload.href}?${new URLSearchParams({ report })}`;
  const product = await startProduct({
    program,
    dataDir: join(folder, "data"),
    env: { NODE_OPTIONS: `--import=${hook}` },
  });
  await product.stop();
  return JSON.parse(readFileSync(report, "utf8"));
}

function budgetOf(name: string): number {
  const other = /^(server|web)\//.test(name) ? "each other folder of ours" : "each other package";
  return budgets[name] ?? budgets[other] ?? 0;
}

function groupOf(url: string): string {
  const path = url.startsWith(root) ? url.slice(root.length) : fileURLToPath(url);
  const name = /node_modules\/((@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  return name ?? /^(server\/src\/[^/]+|contract)\//.exec(path)?.[1] ?? "server/src";
}
