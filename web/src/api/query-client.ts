import { notifyManager, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./call.ts";
import { readSession, subscribeSession } from "./session.ts";

/** One cache per page, emptied of everything personal when the signed-in user changes. */
export function createQueryClient(): QueryClient {
  // A button is off before the next click: by default a change is drawn one task later.
  notifyManager.setScheduler(queueMicrotask);
  const client = new QueryClient({
    defaultOptions: {
      queries: { staleTime: 2_000, retry: mayRetry, refetchOnWindowFocus: true },
      // Without a network a call fails at once, as everywhere else, and does not wait for one.
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

/** A refusal does not change by asking again; trouble on the way may. */
function mayRetry(failures: number, error: unknown): boolean {
  const passing = error instanceof ApiError && (error.code === "network" || error.status >= 500);
  return passing && failures < 2;
}
