import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { IdentityError } from "../identity.ts";

type Keys = ReturnType<typeof createLocalJWKSet>;

const timeoutMs = 10_000;
const pauseMs = 5_000;

/**
 * The provider's published keys, kept as long as it says (Cache-Control). An unknown key id asks again, at most every 5 s, lest
 * forged tokens do. Throws UNAVAILABLE where they cannot be fetched: that signs nobody out.
 */
export function keySet(url: string): JWTVerifyGetKey {
  let known: { readonly keys: Keys; readonly until: number } | undefined;
  let running: Promise<Keys> | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;

  const load = () => {
    askedAt = performance.now();
    running ??= fetchKeys(url)
      .then((fetched) => {
        known = { keys: fetched.keys, until: performance.now() + fetched.maxAgeMs };
        return fetched.keys;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };

  return async (header, token) => {
    if (known && known.until > performance.now()) {
      const key = await known.keys(header, token).catch(() => undefined);
      if (key || performance.now() - askedAt < pauseMs) return key ?? unknownKey();
    }
    const keys = await load();
    return await keys(header, token).catch(unknownKey);
  };
}

function unknownKey(): never {
  throw new IdentityError("INVALID_ID_TOKEN");
}

async function fetchKeys(url: string): Promise<{ readonly keys: Keys; readonly maxAgeMs: number }> {
  try {
    const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new Error(`the identity provider's keys: HTTP ${response.status}`);
    const [, seconds] = /max-age=(\d{1,9})/.exec(response.headers.get("cache-control") ?? "") ?? [];
    return { keys: createLocalJWKSet((await response.json()) as JSONWebKeySet), maxAgeMs: Number(seconds ?? 0) * 1000 };
  } catch (cause) {
    throw new IdentityError("UNAVAILABLE", { cause });
  }
}
