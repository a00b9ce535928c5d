// npm run docs: writes docs/configuration.md and .env.example from the schema of the settings, and docs/operate/commands.md
// from the table of the operator's commands, and the schema of the chart's values.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeSettings } from "../server/src/config/describe-settings.ts";
import { commands } from "../server/src/operator/commands.ts";
import { chartSchema } from "./chart-schema.ts";
import { commandsPage } from "./commands-page.ts";
import { settingsPages } from "./settings-pages.ts";

/** The text of every generated page, by its path from the root. */
export function generatedDocs(): Readonly<Record<string, string>> {
  const settings = describeSettings();
  return {
    ...settingsPages(settings),
    "docs/operate/commands.md": commandsPage(commands),
    "deploy/helm/berth/values.schema.json": chartSchema(settings),
  };
}

if (import.meta.main) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  for (const [path, text] of Object.entries(generatedDocs())) writeFileSync(join(root, path), text);
}
