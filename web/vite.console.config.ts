import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { guardEntry } from "./guard-entry.ts";

/**
 * The operator's console: a build of its own, served under /operator on OPERATOR_PORT (G143). In one build with the
 * tenants' app they would share chunks, and each would change the other's.
 */
export default defineConfig({
  root: "src/console",
  base: "/operator/",
  publicDir: false,
  plugins: [react(), guardEntry],
  build: {
    outDir: "../../dist-console",
    emptyOutDir: true,
    target: "es2022",
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    modulePreload: { polyfill: false },
  },
});
