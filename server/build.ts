import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { type Plugin, rolldown } from "rolldown";

// Bundles the server and the operator's commands (G331): a start reads 93 files instead of 1,200. Words: the folder, by
// default dist/.
const dist = join(import.meta.dirname, "dist");
const folder = process.argv[2] ?? dist;
const sources = join(import.meta.dirname, "src");

/** Packages that every start loads. All others stay in node_modules until something needs them. */
const bundled = [
  "@berth/contract",
  "@fastify/proxy-addr",
  "@fastify/rate-limit",
  "@fastify/static",
  "fastify",
  "helmet",
  "jose",
  "jsonc-parser",
  "kysely",
  "otpauth",
  "pg",
  "pino",
  "uqr",
  "zod",
];

/** What packages ask for and do without. */
const absent = ["pg-native"];

const bundle = await rolldown({
  input: { main: join(sources, "main.ts"), operator: join(sources, "operator/main.ts") },
  platform: "node",
  // Its CommonJS files hand `require` around, which no bundler follows.
  resolve: { alias: { "jsonc-parser": join(dirname(resolve("jsonc-parser/package.json")), "lib/esm/main.js") } },
  external: (id, importer) => absent.includes(id) || (isOurs(importer) && isPackage(id) && !isBundled(id)),
  plugins: [placesOfSources(), httpWithoutItsClient()],
  onLog(level, { message }) {
    if (level === "warn") throw new Error(message);
  },
});
// Names of functions and classes stand in logs.
const { output } = await bundle.write({
  dir: folder,
  format: "esm",
  keepNames: true,
  comments: { legal: false, annotation: false, jsdoc: false },
  chunkFileNames: "[name]-[hash].js",
});
removeOld(output.map(({ fileName }) => fileName));

/** A server that runs meanwhile loads parts of the build before: they stay until the next one. */
function removeOld(files: readonly string[]): void {
  const list = join(folder, ".files");
  const before = existsSync(list) ? readFileSync(list, "utf8").split("\n") : [];
  for (const name of readdirSync(folder).filter((each) => !each.startsWith(".")))
    if (!files.includes(name) && !before.includes(name)) rmSync(join(folder, name));
  writeFileSync(list, files.join("\n"));
}

/** Files beside a source are found by its place, which in the bundle is another. */
function placesOfSources(): Plugin {
  return {
    name: "places-of-sources",
    transform(code, id) {
      if (!isOurs(id) || !code.includes("import.meta.")) return null;
      const source = JSON.stringify(relative(dist, id).split(sep).join("/"));
      return code
        .replaceAll("import.meta.url", `new URL(${source}, import.meta.url).href`)
        .replaceAll("import.meta.main", "false");
    },
  };
}

/** Node reads each name of a module that is imported, for node:http also WebSocket, whose client takes a twentieth of a start. */
function httpWithoutItsClient(): Plugin {
  const id = "\0node:http";
  return {
    name: "http-without-its-client",
    resolveId: (asked, importer) => (asked === "node:http" && isOurs(importer) ? id : null),
    load: (asked) =>
      asked === id
        ? 'export const { Agent, createServer, get, request, STATUS_CODES } = process.getBuiltinModule("node:http");'
        : null,
  };
}

function isOurs(path: string | undefined): boolean {
  return path !== undefined && /\.ts$/.test(path) && !path.includes("node_modules");
}

function isPackage(id: string): boolean {
  return /^[@\w]/.test(id) && !id.startsWith("node:");
}

function isBundled(id: string): boolean {
  return bundled.some((name) => id === name || id.startsWith(`${name}/`));
}

function resolve(name: string): string {
  return createRequire(import.meta.url).resolve(name);
}
