import { writeFileSync } from "node:fs";
import { registerHooks, syncBuiltinESMExports } from "node:module";
import zlib from "node:zlib";

/** What a process loaded and compressed until it ended. */
export interface StartCounts {
  /** URLs, in order, without those of Node itself. */
  readonly modules: readonly string[];
  readonly compressed: readonly { readonly bytes: number; readonly by: string }[];
}

// Loaded into a server by `--import`; it gets the path of its report as a parameter of its own URL.
const report = new URL(import.meta.url).searchParams.get("report");
const modules: string[] = [];
const compressed: { bytes: number; by: string }[] = [];

registerHooks({
  load(url, context, next) {
    if (!url.startsWith("node:")) modules.push(url);
    return next(url, context);
  },
});

for (const name of ["brotliCompress", "gzip", "deflate", "deflateRaw", "zstdCompress"] as const) {
  count(name);
  count(`${name}Sync`);
}
syncBuiltinESMExports();

process.on("exit", () => {
  if (report) writeFileSync(report, JSON.stringify({ modules, compressed } satisfies StartCounts));
});

function count(name: keyof typeof zlib): void {
  const functions = zlib as unknown as Record<string, (...args: unknown[]) => unknown>;
  const original = functions[name];
  if (!original) return;
  const counted = (...args: unknown[]) => {
    const by = new Error().stack
      ?.split("\n")
      .find((line) => /\/(server|node_modules)\//.test(line) && !/count-start/.test(line));
    compressed.push({ bytes: Buffer.byteLength(args[0] as Buffer), by: by?.trim() ?? "unknown" });
    return original(...args);
  };
  functions[name] = counted;
}
