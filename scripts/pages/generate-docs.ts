// npm run docs: writes docs/configuration.md and .env.example from the schema of the settings, docs/operate/commands.md from
// the table of the operator's commands, the schema of the chart's values, and docs/performance.md and the figures of other
// pages from the ledger.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeSettings } from "../../server/src/config/describe-settings.ts";
import { commands } from "../../server/src/operator/commands.ts";
import { chartSchema } from "./chart-schema.ts";
import { commandsPage } from "./commands-page.ts";
import { readLedger } from "./ledger.ts";
import { performancePage, withFigures } from "./performance-page.ts";
import { settingsPages } from "./settings-pages.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Pages with marks for figures of the ledger. */
const pagesWithFigures = [
  "README.md",
  "docs/operate/kubernetes.md",
  "docs/operate/monitor.md",
  "docs/operate/scale.md",
];

/** The text of every generated page, by its path from the root. */
export function generatedDocs(): Readonly<Record<string, string>> {
  const settings = describeSettings();
  const ledger = readLedger();
  return {
    ...settingsPages(settings),
    "docs/operate/commands.md": commandsPage(commands),
    "deploy/helm/berth/values.schema.json": chartSchema(settings),
    "docs/performance.md": performancePage(ledger),
    ...Object.fromEntries(
      pagesWithFigures.map((path) => [path, withFigures(readFileSync(join(root, path), "utf8"), ledger)]),
    ),
  };
}

export function writeDocs(): void {
  for (const [path, text] of Object.entries(generatedDocs())) writeFileSync(join(root, path), text);
}

if (import.meta.main) writeDocs();
