import { readStorage, writeStorage } from "./storage.ts";

const key = "opening";
/** From the click on Open Session to `/open`, with the gateway's redirect between them. */
const lastsMs = 60_000;

/**
 * Where the app itself was the page before, `/open` signs in without asking (G301). Kept in the app's own storage, which no
 * page of an environment can read or write; an address would go through the environment's host.
 */
export function permitOpening(environment: string): void {
  writeStorage(key, JSON.stringify({ ...openPermits(), [environment]: Date.now() + lastsMs }));
}

export function isOpeningPermitted(environment: string): boolean {
  return Object.hasOwn(openPermits(), environment);
}

/** A permit is good once. */
export function endPermit(environment: string): void {
  const { [environment]: _, ...others } = openPermits();
  writeStorage(key, Object.keys(others).length === 0 ? null : JSON.stringify(others));
}

function openPermits(): Readonly<Record<string, number>> {
  try {
    const stored = Object.entries(JSON.parse(readStorage(key) ?? "{}") as Record<string, number>);
    const now = Date.now();
    return Object.fromEntries(stored.filter(([, until]) => until > now && until <= now + lastsMs));
  } catch {
    return {};
  }
}
