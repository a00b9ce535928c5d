import { cookieNames } from "./reserved-names.ts";

/** A parsed Cookie header. */
export interface CookieHeader {
  /** The pairs under our names, in any case. */
  readonly ours: readonly string[];
  /** The rest, for the environment. */
  readonly others: string;
}

const mostKept = 2000;
/** Bounds the memory: 4 MB at most. */
const longestKept = 2048;
const none: CookieHeader = { ours: [], others: "" };
const kept = new Map<string, CookieHeader>();

/** Cached, because a browser sends the same header with every request. */
export function cookieHeader(header: string | undefined): CookieHeader {
  if (header === undefined) return none;
  const known = kept.get(header);
  if (known) return known;
  const parsed = parse(header);
  if (header.length > longestKept) return parsed;
  if (kept.size >= mostKept) kept.clear();
  kept.set(header, parsed);
  return parsed;
}

function parse(header: string): CookieHeader {
  const ours: string[] = [];
  const others: string[] = [];
  for (const pair of header.split(";")) {
    if (cookieNames.has(nameOf(pair).toLowerCase())) ours.push(pair.trim());
    else others.push(pair);
  }
  return { ours, others: ours.length === 0 ? header : others.join(";").trim() };
}

function nameOf(pair: string): string {
  const equals = pair.indexOf("=");
  return (equals === -1 ? "" : pair.slice(0, equals)).trim();
}
