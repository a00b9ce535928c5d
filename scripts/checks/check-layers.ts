// Fails when a file imports from an entry to its right in the list below, on a cycle of imports, and when the product
// imports test code. Type-only imports count. Tests may import anything.
import { dirname, join, resolve } from "node:path";
import { importsOf, isTestCode, sourceFiles } from "./source-files.ts";

/** The entries of each folder: an entry imports only from itself and from entries to its left. `.` means all unlisted files. */
const layers: Readonly<Record<string, string>> = {
  "": "contract server web images testing scripts . e2e prove bench",
  server: "src",
  "server/src":
    "app-error.ts text logging async config database audit installation http mail drivers identity environments payments account billing support catalogue notifications operator gateway metrics roles main.ts",
  "server/src/database": ". embedded",
  "server/src/drivers": ". homes process fake docker kubernetes",
  "server/src/drivers/process": "sandbox .",
  "server/src/drivers/docker": "engine containers machine images firewall .",
  "server/src/drivers/kubernetes": "cluster pods nodes homes network images .",
  "server/src/identity": ". local providers firebase",
  "server/src/environments/reconciler":
    "plan.ts wait-columns.ts silence.ts work-lease.ts launch-times.ts batch-unchanged.ts status .",
  "server/src/account": "ssh-keys .",
  "server/src/environments":
    ". leases time hosts homes moves activity queue warm-pool allocation reconciler api mining",
  "server/src/payments": "ledger provider embedded-provider credits refunds disputes settlement orders",
  "server/src/operator":
    "parse-command.ts process-registry.ts print-rows.ts print-page.ts with-database.ts read-time.ts audit accounts people identity rentals orders messages backup capacity doctor . console",
  "server/src/gateway": "http-client principal target refusals access sign-in forward ssh .",
  contract: "src",
  "contract/src":
    "plural.ts rules.ts errors.ts lifecycle.ts endpoint.ts wire.ts catalogue support identity environments payments account . console",
  web: "src docs .",
  "web/src":
    "server-clock.ts catalogue.ts format.ts public-page.ts content api ui environments dashboard launch billing settings auth landing legal status docs support shell . console",
  "web/src/api": ". live",
  "web/src/console": "frame machines audit mining credits environments orders people prices messages now .",
  "web/src/billing": ". order",
  "web/src/shell": "commands notifications .",
  "web/src/settings": "settings-part.tsx access .",
  "web/src/ui": "toast controls display dialogs",
  "web/src/environments": "lifecycle actions queue unpaid kept-files metrics detail list",
  "web/src/environments/detail": "access .",
  "web/src/launch": "draft purchase steps extend .",
  scripts: "checks pages . tests",
  prove:
    "mutants notebook.ts labs.ts proof-page.ts money nodes access fuzz connect machine gateways hostile trouble upgrade replicas .",
  bench: "gateway quantiles.ts figure.ts processes.ts peers scale .",
};

const root = resolve(process.argv[2] ?? join(import.meta.dirname, "../.."));
const here = "scripts/checks/check-layers.ts";
const files = sourceFiles(root);
const product = /^(contract|server|web|images)\//;
const faults: string[] = [];
const unplacedEntries = new Set<string>();
const imports = importsOf(files);

for (const [from, targets] of imports) if (!isTestCode(from)) for (const to of targets) judge(from, to);
for (const entry of unplacedEntries) faults.push(`${entry} has no place in the order of its folder: add it to ${here}`);
for (const folder of unlisted()) faults.push(`${folder} has folders without an order: add it to ${here}`);
for (const cycle of cycles())
  faults.push(`${cycle.join(" -> ")} is a cycle: move what they share to a file of its own`);

for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);

function judge(from: string, to: string): void {
  if (isTestCode(to) && product.test(from))
    faults.push(`${from} imports ${to}, which is test code: move what both need out of it`);
  const { folder, left, right } = divergenceOf(from, to);
  const order = layers[folder]?.split(" ") ?? [];
  if (left === right || order.length === 0) return;
  const unplaced = [left, right].find((entry) => entry !== "." && !order.includes(entry));
  if (unplaced) unplacedEntries.add(`${folder === "" ? "" : `${folder}/`}${unplaced}`);
  if (unplaced) return;
  if (order.indexOf(right) > order.indexOf(left))
    faults.push(
      `${from} imports ${to}, which is to its right: move what both need to the left, or hand it in (${here})`,
    );
}

/** The deepest common folder of two paths, and each path's entry in it. */
function divergenceOf(from: string, to: string): { folder: string; left: string; right: string } {
  const [a, b] = [from.split("/"), to.split("/")];
  let depth = 0;
  while (a[depth] === b[depth] && depth < a.length - 1) depth += 1;
  const folder = a.slice(0, depth).join("/");
  return { folder, left: entryOf(folder, a.slice(depth)), right: entryOf(folder, b.slice(depth)) };
}

function entryOf(folder: string, [name = "", ...deeper]: readonly string[]): string {
  return deeper.length > 0 || layers[folder]?.split(" ").includes(name) ? name : ".";
}

function unlisted(): string[] {
  const inner = [...files.keys()].filter((path) => !isTestCode(path)).map(dirname);
  const parents = new Set(inner.map(dirname).filter((folder) => folder !== "."));
  return [...parents].filter((folder) => !(folder in layers)).sort();
}

/** One cycle of each strongly connected group of files. */
function cycles(): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) found.push([...trail.slice(at), path]);
    if (at >= 0 || done.has(path)) return;
    for (const target of imports.get(path) ?? []) walk(target, [...trail, path]);
    done.add(path);
  };
  for (const path of files.keys()) walk(path, []);
  return found;
}
