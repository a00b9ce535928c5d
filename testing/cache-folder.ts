import { join } from "node:path";

/** For what proofs and benches install once. */
export const cacheFolder = join(import.meta.dirname, "..", "node_modules", ".cache", "berth");
