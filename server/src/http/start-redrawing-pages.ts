import { isDeepStrictEqual } from "node:util";
import type { Catalogue } from "@berth/contract";
import { type Loop, startInterval } from "../async/start-interval.ts";
import type { Logger } from "../logging/create-logger.ts";
import type { Document, Documents } from "./documents.ts";

interface RedrawDeps {
  /** What is served; its pages are replaced. */
  readonly documents: Map<string, Document>;
  /** Draws all pages as of now. */
  readonly draw: () => Promise<Documents>;
  /** The GPUs that the pages name; they are drawn again when these are others. */
  readonly named: () => Promise<Catalogue["gpus"]>;
  readonly catalogue: Catalogue;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** When `documents` were drawn; by default now. */
  readonly drawnAt?: number;
}

/** A failed drawing is tried again then. */
const intervalMs = 60_000;

/**
 * Draws the pages again when a version of the prices or of the terms begins, because they name it (G152), and when hosts
 * report other GPUs.
 */
export function startRedrawingPages(deps: RedrawDeps): Loop {
  const { documents, draw, catalogue, log, now = Date.now, drawnAt } = deps;
  const begins = [...catalogue.prices, ...(catalogue.terms ?? [])].map(({ from }) => Date.parse(`${from}T00:00:00Z`));
  let drawn = drawnAt ?? now();
  let gpus: Catalogue["gpus"] | undefined;
  return startInterval({
    name: "pages",
    intervalMs,
    log,
    work: async () => {
      const next = Math.min(...begins.filter((at) => at > drawn));
      const at = now();
      // The pages of before stay while the database is away.
      const found = await deps.named().catch(() => gpus);
      gpus ??= found;
      if (at < next && isDeepStrictEqual(found, gpus)) return next - at;
      for (const [name, page] of await draw()) documents.set(name, page);
      [drawn, gpus] = [at, found];
      return 0;
    },
  });
}
