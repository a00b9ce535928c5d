import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { commit, machine } from "../testing/this-run.ts";

const page = fileURLToPath(new URL("../docs/proof.md", import.meta.url));
const head = `# Proofs

Written by \`npm run prove -- NAME\`: the command, its seed and the results. Running one again replaces its section.
`;

/** A sentence on what ran where. */
export const thisRun = () => `It was commit ${commit}, on ${machine}, with a load of ${loadavg()[0]?.toFixed(0)}.`;

/** Replaces or adds the section of this name. */
export function writeProof(name: string, text: string): void {
  const before = existsSync(page) ? readFileSync(page, "utf8") : head;
  const part = `## ${name}\n\n${text.trim()}\n`;
  const known = new RegExp(`## ${name}\\n[^]*?(?=\\n## |$)`);
  writeFileSync(page, known.test(before) ? before.replace(known, () => part) : `${before}\n${part}`);
}
