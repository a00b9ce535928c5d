import type { PluginOption } from "vite";
import { reloadDroppedEntry } from "./src/shell/reload-dropped-entry.ts";

/** Writes the guard of the entry script into the document, before that script. */
export const guardEntry: PluginOption = {
  name: "guard-entry",
  transformIndexHtml: (html) =>
    html.replace("</title>", (end) => `${end}\n    <script>(${reloadDroppedEntry})();</script>`),
};
