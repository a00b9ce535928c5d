import type { ProductConfig } from "@berth/contract";
import { useSyncExternalStore } from "react";
import { ApiError } from "./api-error.ts";
import { fetchResponse } from "./send.ts";

/**
 * `GET /config`, asked once per page. Not in the query cache, because the landing page needs the brand without a query
 * library, and a token's refresh needs the provider's address before anything else.
 */
let pending: Promise<ProductConfig> | undefined;
let known: ProductConfig | undefined;
let upgraded = false;
const listeners = new Set<() => void>();

export function readConfig(): Promise<ProductConfig> {
  pending ??= ask().catch((error: unknown) => {
    pending = undefined;
    throw error;
  });
  return pending;
}

/** Undefined until it is known; after a failure the next caller tries again. */
export function useConfig(): ProductConfig | undefined {
  return useSyncExternalStore(
    subscribe,
    () => known,
    () => undefined,
  );
}

/** Whether the server has another version than when this page was loaded. */
export function useUpgraded(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => upgraded,
    () => false,
  );
}

/** Checks whether the server was upgraded meanwhile. Never throws; without a reply nothing changes. */
export async function checkVersion(): Promise<void> {
  if (!known || upgraded) return;
  const now = await fetchConfig().catch(() => known);
  upgraded = now?.version !== known.version;
  if (upgraded) tell();
}

async function ask(): Promise<ProductConfig> {
  known = await fetchConfig();
  tell();
  return known;
}

async function fetchConfig(): Promise<ProductConfig> {
  const response = await fetchResponse("/config", { headers: { accept: "application/json" } });
  if (!response.ok) throw new ApiError("unavailable", `HTTP ${response.status}`, response.status);
  return (await response.json()) as ProductConfig;
}

function tell(): void {
  for (const heard of listeners) heard();
}

function subscribe(heard: () => void): () => void {
  listeners.add(heard);
  readConfig().catch(() => undefined);
  return () => listeners.delete(heard);
}
