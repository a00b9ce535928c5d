import { dirname, matchesGlob } from "node:path";
import { importsOf } from "../checks/source-files.ts";

/** What no import shows: a change of the first is tested by the second. */
export const beyondImports: readonly (readonly [changed: string, tests: readonly string[]])[] = [
  ["server/src/database/migrations/**", ["server/src/database/*.test.ts", "scripts/generate-schema.test.ts"]],
  ["{*.md,docs/**}", ["scripts/pages/{broken-links,docs-commands,generate-docs}.test.ts"]],
  ["docs/{use,operate,develop}/**", ["e2e/docs.spec.ts"]],
  ["deploy/**", ["scripts/deploy-files.test.ts", "server/src/system-tests/shipped-proxies.test.ts"]],
  ["deploy/helm/**", ["server/src/system-tests/helm-*.test.ts"]],
  ["images/**", ["images/images.test.ts", "server/src/drivers/process/process-*.test.ts"]],
  ["{biome.json,scripts/checks/*}", ["scripts/checks/check*.test.ts"]],
  ["{package.json,scripts/**/*.mjs}", ["scripts/{start,operator}.test.ts"]],
  ["prove/mutants/**", ["prove/faults.test.ts"]],
  ["web/src/auth/**", ["e2e/specification/2-{auth-screen,forgot-password,reset-password}.spec.ts"]],
  ["web/src/billing/**", ["e2e/specification/2-billing-and-usage.spec.ts"]],
  ["web/src/dashboard/**", ["e2e/specification/2-dashboard.spec.ts"]],
  ["web/src/environments/**", ["e2e/specification/2-environments.spec.ts"]],
  ["web/src/launch/**", ["e2e/specification/2-create-environment*.spec.ts"]],
  ["web/src/legal/**", ["e2e/specification/2-{refund-policy-page,terms-highlights}.spec.ts"]],
  ["web/src/{landing,status}/**", ["e2e/specification/1-what-the-product-does.spec.ts"]],
  ["web/src/settings/**", ["e2e/specification/2-settings.spec.ts"]],
  ["web/src/shell/**", ["e2e/specification/2-{route-table,signed-in-layout}.spec.ts"]],
  ["web/src/support/**", ["e2e/specification/2-support.spec.ts"]],
  ["web/src/{api,content,ui}/**", ["e2e/specification/2-{billing-and-usage,dashboard}.spec.ts"]],
  ["web/src/console/**", ["e2e/console/console.spec.ts"]],
  ["web/src/console/{environments,orders,people,prices,messages,mining,credits}/**", ["e2e/console/console-*.spec.ts"]],
];

/** Tests that may run pods, and those of the whole server, which reach everything, are left to `npm test`. */
const neverNear = /kubernetes|\/system-tests\//;

/** A test imports what it tests, which imports the changed file. */
const nearby = 2;

export interface RelatedTests {
  readonly unit: readonly string[];
  readonly browser: readonly string[];
  /** How many more would be reached by longer chains of imports: nearly all reach the whole server by one. */
  readonly further: number;
}

/**
 * The tests of a change: tests that changed, those at most two imports away, those of the same folder however many imports
 * away, and those of the table above. `files` are all sources, `paths` all files.
 */
export function relatedTests(
  changed: readonly string[],
  files: ReadonlyMap<string, string>,
  paths: readonly string[],
): RelatedTests {
  const imports = importsOf(files);
  const globs = beyondImports.flatMap(([of, by]) => (changed.some((path) => matchesGlob(path, of)) ? by : []));
  const isListed = (path: string) => changed.includes(path) || globs.some((glob) => matchesGlob(path, glob));
  const folders = new Set(changed.map((path) => dirname(path)));
  const unit: string[] = [];
  let further = 0;
  for (const test of paths.filter((path) => /\.test\.tsx?$/.test(path))) {
    const steps = distance(test, new Set(changed), imports);
    const isNear = steps <= nearby || (steps < Number.POSITIVE_INFINITY && folders.has(dirname(test)));
    if (isListed(test) || (isNear && !neverNear.test(test))) unit.push(test);
    else if (steps < Number.POSITIVE_INFINITY) further += 1;
  }
  return { unit, browser: paths.filter((path) => path.endsWith(".spec.ts") && isListed(path)), further };
}

/** Number of imports from `from` to one of `targets`. */
function distance(from: string, targets: ReadonlySet<string>, imports: ReadonlyMap<string, readonly string[]>): number {
  const seen = new Set([from]);
  for (let [level, steps] = [[from], 0]; level.length > 0; steps++) {
    if (level.some((path) => targets.has(path))) return steps;
    level = [...new Set(level.flatMap((path) => imports.get(path) ?? []))].filter((path) => !seen.has(path));
    for (const path of level) seen.add(path);
  }
  return Number.POSITIVE_INFINITY;
}
