import type { ProductConfig } from "@berth/contract";
import { ApiError } from "./api-error.ts";
import { bounded } from "./bounded.ts";
import { createStore } from "./create-store.ts";
import { fetchResponse } from "./send.ts";

/**
 * `GET /config`, fetched once per page. Not in the query cache: the landing page needs the brand without a query library,
 * and a token refresh needs the provider's address first.
 */
let pending: Promise<ProductConfig> | undefined;
let state: { readonly config?: ProductConfig; readonly upgraded: boolean } = { upgraded: false };
const store = createStore(
  () => state,
  () => void readConfig().catch(() => undefined),
);

export function readConfig(): Promise<ProductConfig> {
  pending ??= loadConfig().catch((error: unknown) => {
    pending = undefined;
    throw error;
  });
  return pending;
}

/** Undefined until loaded; the next call retries after a failure. */
export function useConfig(): ProductConfig | undefined {
  return store.useValue().config;
}

/** Whether the server's version has changed since this page was loaded. */
export function useUpgraded(): boolean {
  return store.useValue().upgraded;
}

/** Checks for an upgrade of the server. Never throws; without a reply nothing changes. */
export async function checkVersion(): Promise<void> {
  const { config, upgraded } = state;
  if (!config || upgraded) return;
  const { version } = await fetchConfig().catch(() => config);
  if (version !== config.version) update({ upgraded: true });
}

function update(change: Partial<typeof state>): void {
  state = { ...state, ...change };
  store.notify();
}

async function loadConfig(): Promise<ProductConfig> {
  const config = await fetchConfig();
  update({ config });
  return config;
}

async function fetchConfig(): Promise<ProductConfig> {
  const response = await fetchResponse("/config", { headers: { accept: "application/json" }, signal: bounded() });
  if (!response.ok) throw new ApiError("unavailable", `HTTP ${response.status}`, response.status);
  return (await response.json()) as ProductConfig;
}
