import { notifyManager, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api-error.ts";
import { readSession, subscribeSession } from "./session.ts";

/** One cache per page. Personal data is removed when the signed-in user changes. */
export function createQueryClient(): QueryClient {
  // A mutation's state is drawn before the next click; by default it is drawn one task later.
  notifyManager.setScheduler(queueMicrotask);
  const client = new QueryClient({
    defaultOptions: {
      queries: { staleTime: 2_000, retry: mayRetry, refetchOnWindowFocus: true },
      // Without a network a call fails at once instead of waiting for one.
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

/** A refusal stays the same when it is asked again; a network or server error may pass. */
function mayRetry(failures: number, error: unknown): boolean {
  const passing = error instanceof ApiError && (error.code === "network" || error.status >= 500);
  return passing && failures < 2;
}
