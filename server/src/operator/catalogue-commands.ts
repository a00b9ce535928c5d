import { readCatalogueFile } from "../config/read-catalogue-file.ts";
import type { Command } from "./parse-command.ts";

/** What is sold (docs/operate/catalogue.md). */
export const catalogueCommands: readonly Command[] = [
  {
    name: "catalogue",
    args: [],
    about: "prints the catalogue in force as JSON: the file of CATALOGUE, or the built-in one",
    example: "catalogue",
    run: async ({ catalogue }) => console.log(JSON.stringify(catalogue, null, 2)),
  },
  {
    name: "catalogue check",
    args: ["FILE"],
    about: "checks a catalogue before a start with it; names each fault with line and field",
    example: "catalogue check catalogue.json",
    run: async (_, [file = ""]) => {
      const { types, prices } = readCatalogueFile(file);
      const days = prices.map(({ from }) => from).join(", ");
      console.log(`${file} is in order: ${types.map(({ id }) => id).join(", ")}; prices from ${days}`);
    },
  },
];
