// npm run docs: writes docs/configuration.md and .env.example from the schema of the settings, and docs/operate/commands.md
// from the table of the operator's commands.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeSettings } from "../server/src/config/describe-settings.ts";
import { commands } from "../server/src/operator/commands.ts";
import { commandsPage } from "./commands-page.ts";
import { settingsPages } from "./settings-pages.ts";

/** The text of every generated page, by its path from the root. */
export function generatedDocs(): Readonly<Record<string, string>> {
  return { ...settingsPages(describeSettings()), "docs/operate/commands.md": commandsPage(commands) };
}

if (import.meta.main) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  for (const [path, text] of Object.entries(generatedDocs())) writeFileSync(join(root, path), text);
}
