import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The commands of a section of a page, block by block, as they stand. A block that names a language, such as `text`, is no
 * command. @param page below the root of the repository
 */
export function commandBlocks(page: string, section: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, "../..", page), "utf8");
  const [, body] = new RegExp(`^## ${section}\\n([\\s\\S]*?)(?=^## |(?![\\s\\S]))`, "m").exec(text) ?? [];
  const blocks = [...(body ?? "").matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].flatMap(([, language, commands = ""]) =>
    language === "" ? [commands] : [],
  );
  if (blocks.length === 0) throw new Error(`${page} has no commands in "${section}"`);
  return blocks;
}
