import { buildServer } from "../scripts/setup.mjs";

/** Before tests of either runner: what starts the product as a process runs what the sources now say. */
// biome-ignore lint/style/noDefaultExport: what Playwright calls
export default function setUp(): void {
  buildServer();
}
