import { type Catalogue, comingPrices, defaultCatalogue, type Prices, pricesAt } from "@berth/contract";
import { serverNow } from "./server-clock.ts";

/**
 * What the operator sells, as the server wrote it into this page's head; empty: the built-in catalogue. A page that is drawn
 * without a browser gets it from the environment variable that the server sets (server/src/http/draw-pages.ts).
 */
export const catalogue: Catalogue = parsed(written()) ?? defaultCatalogue;

/** The prices in force now, by the server's clock: it refuses others. */
export function prices(): Prices {
  return pricesAt(catalogue, new Date(serverNow()));
}

/** Announced prices that have not begun, the next first (G152). */
export function announcedPrices(): readonly Prices[] {
  return comingPrices(catalogue, new Date(serverNow()));
}

/** The largest number of GPUs that one environment can have. */
export function mostGpus(): number {
  return Math.max(...prices().rows.map(({ gpus }) => gpus));
}

function written(): string {
  if (typeof document === "undefined") {
    const { process } = globalThis as { process?: { env: Readonly<Record<string, string | undefined>> } };
    return process?.env["PAGE_CATALOGUE"] ?? "";
  }
  return document.querySelector<HTMLMetaElement>('meta[name="catalogue"]')?.content ?? "";
}

/** The development server does not replace the placeholder. */
function parsed(text: string): Catalogue | undefined {
  return text.startsWith('{"') ? (JSON.parse(text) as Catalogue) : undefined;
}
