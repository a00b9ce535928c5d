import react from "@vitejs/plugin-react";
import { defineConfig, type PluginOption, type ProxyOptions } from "vite";
import { guardEntry } from "./guard-entry.ts";
import { description } from "./src/content/brand.ts";

/** The server's paths. Some are pages too; navigations are not proxied (G93). */
const server = "http://localhost:3000";
const paths =
  "config|auth|profile|docker|environments|capacity|subdomains|notifications|events|identity|embedded-gateway|settings|billing|support|status";

const toServer: ProxyOptions = {
  target: server,
  changeOrigin: true,
  bypass: ({ method, headers }) =>
    method === "GET" && headers.accept?.includes("text/html") ? "/index.html" : undefined,
};

const indexHtml: PluginOption = {
  name: "index-html",
  transformIndexHtml: (html) => html.replace("%DESCRIPTION%", () => description),
};

export default defineConfig({
  plugins: [react(), indexHtml, guardEntry],
  server: { proxy: { [`^/(${paths})(/|\\?|$)`]: toServer } },
  // All target browsers support modulepreload.
  build: {
    target: "es2022",
    manifest: true,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: ["index.html", "src/public-page.ts", "src/docs/docs-script.ts", "src/docs/docs-page.tsx"],
      // docs-page.tsx is an input for its styles, which would go with its unused export.
      preserveEntrySignatures: "exports-only",
    },
  },
});
