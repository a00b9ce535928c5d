import { notifyManager, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api-error.ts";
import { readSession, subscribeSession } from "./session.ts";

/** One cache per page. Personal data is removed when the signed-in user changes. */
export function createQueryClient(): QueryClient {
  // Renders a mutation's state before the next click, not one task later.
  notifyManager.setScheduler(queueMicrotask);
  const client = new QueryClient({
    defaultOptions: {
      queries: { staleTime: 2_000, retry: mayRetry, refetchOnWindowFocus: true },
      // Offline, a call fails at once instead of waiting for the network.
      mutations: { retry: false, networkMode: "always" },
    },
  });
  let userId = readSession()?.userId;
  subscribeSession(() => {
    const now = readSession()?.userId;
    if (now === userId) return;
    userId = now;
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "config" && queryKey[0] !== "capacity" });
  });
  return client;
}

/** Retries network and server errors, but not refusals. */
function mayRetry(failures: number, error: unknown): boolean {
  const passing = error instanceof ApiError && (error.code === "network" || error.status >= 500);
  return passing && failures < 2;
}
