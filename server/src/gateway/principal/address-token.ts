import type { IncomingMessage } from "node:http";

/**
 * The token that a script shows in its address, as Jupyter's own clients do (G114). Only where no browser sends it by
 * itself: links and forms of pages say where they come from. Upgrades may: some clients name an Origin, which is checked.
 */
export function addressToken({ url = "", headers }: IncomingMessage): string | undefined {
  const isPages = headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
  if (isPages && headers.upgrade === undefined) return undefined;
  const start = url.indexOf("?");
  return start === -1 ? undefined : (new URLSearchParams(url.slice(start)).get("token") ?? undefined);
}

/** The address as it goes on: Jupyter would take a token in it before the header's, and log it. The rest stays as it was written. */
export function withoutToken(url: string): string {
  const start = url.indexOf("?");
  // The escape of a letter would be read as that letter.
  if (start === -1 || !/token|%/i.test(url.slice(start))) return url;
  const kept = url
    .slice(start + 1)
    .split("&")
    .filter((pair) => !isToken(pair.split("=", 1)[0] as string));
  return kept.length === 0 ? url.slice(0, start) : `${url.slice(0, start)}?${kept.join("&")}`;
}

function isToken(name: string): boolean {
  return new URLSearchParams(`${name}=`).has("token");
}
