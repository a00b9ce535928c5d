import type { Provider } from "./provider.ts";

type Calls = Omit<Provider, "kind" | "mode" | "keyId" | "minimumMinor" | "verifyCallback">;
export type Send = (...args: readonly unknown[]) => Promise<unknown>;

/** The same provider, each of whose calls is made by `wrap`. */
export function mapCalls(provider: Provider, wrap: (call: string, send: Send) => Send): Provider {
  const { kind, mode, keyId, minimumMinor, verifyCallback, ...calls } = provider;
  const wrapped = Object.keys(calls).map((name) => {
    const send: Send = (...args) => (provider[name as keyof Calls] as Send)(...args);
    return [name, wrap(name, send)] as const;
  });
  return { kind, mode, keyId, minimumMinor, verifyCallback, ...(Object.fromEntries(wrapped) as unknown as Calls) };
}
