import react from "@vitejs/plugin-react";
import { defineConfig, type ProxyOptions } from "vite";

/** The server's paths. Pages and calls share some of them; a navigation stays here (G93). */
const server = "http://localhost:3000";
const paths =
  "config|auth|profile|docker|environments|capacity|subdomains|notifications|events|identity|embedded-gateway|settings|billing|support|status";

const toServer: ProxyOptions = {
  target: server,
  changeOrigin: true,
  bypass: ({ method, headers }) =>
    method === "GET" && headers.accept?.includes("text/html") ? "/index.html" : undefined,
};

export default defineConfig({
  plugins: [react()],
  server: { proxy: { [`^/(${paths})(/|\\?|$)`]: toServer } },
  // Every target browser knows modulepreload, so its polyfill is not needed.
  build: {
    target: "es2022",
    manifest: true,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rollupOptions: { input: ["index.html", "src/public-page.ts"] },
  },
});
