import react from "@vitejs/plugin-react";
import { defineConfig, type ProxyOptions } from "vite";

/** Everything that the server answers. Pages and calls share some paths; a navigation stays here (G93). */
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
  // Every browser of the target knows modulepreload; the stand-in for it would only weigh.
  build: {
    target: "es2022",
    manifest: true,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rollupOptions: { input: ["index.html", "src/public-page.ts"] },
  },
});
