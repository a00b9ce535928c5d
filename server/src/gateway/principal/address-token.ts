import type { IncomingMessage } from "node:http";

/**
 * The token in the query string, as Jupyter's own clients send it (G114). Ignored in requests of pages, which carry an
 * Origin or Sec-Fetch-Site. Upgrades are allowed: some clients send an Origin, which is checked.
 */
export function addressToken({ url = "", headers }: IncomingMessage): string | undefined {
  const isFromPage = headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
  if (isFromPage && headers.upgrade === undefined) return undefined;
  const start = url.indexOf("?");
  return start === -1 ? undefined : (new URLSearchParams(url.slice(start)).get("token") ?? undefined);
}

/**
 * The URL to forward: Jupyter would prefer a token in it to the header's, and log it. The rest stays byte for byte. With an
 * `only` nothing but this token is removed, as a program may have parameters of that name.
 */
export function withoutToken(url: string, only?: string): string {
  const start = url.indexOf("?");
  // A percent-encoded letter would be decoded upstream.
  if (start === -1 || !/token|%/i.test(url.slice(start))) return url;
  const kept = url
    .slice(start + 1)
    .split("&")
    .filter((pair) => !isToken(pair, only));
  return kept.length === 0 ? url.slice(0, start) : `${url.slice(0, start)}?${kept.join("&")}`;
}

function isToken(pair: string, only: string | undefined): boolean {
  const value = new URLSearchParams(pair).get("token");
  return value !== null && (only === undefined || value.includes(only));
}
