import type { ReplyOf } from "@berth/contract";
import { operatorSession } from "@berth/contract/console/session";
import { MutationCache, notifyManager, QueryCache, QueryClient, queryOptions } from "@tanstack/react-query";
import { ApiError } from "../../api/api-error.ts";
import { callConsole } from "./call-console.ts";

/** The signed-in operator; null while nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ["operator"],
  queryFn: async ({ signal }): Promise<ReplyOf<typeof operatorSession> | null> => {
    try {
      return await callConsole(operatorSession, { params: {}, body: {} }, signal);
    } catch (error) {
      if (isSignedOut(error)) return null;
      throw error;
    }
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** The cache of the console. When a call says that nobody is signed in, everything read before is dropped. */
export function consoleClient(): QueryClient {
  // Renders a mutation's state before the next click, not one task later.
  notifyManager.setScheduler(queueMicrotask);
  const onError = (error: unknown) => {
    if (isSignedOut(error)) forget(client);
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: { staleTime: 2_000, retry: mayRetry },
      mutations: { retry: false, networkMode: "always" },
    },
  });
  return client;
}

/** Shows the sign-in, without what was read before. */
export function forget(client: QueryClient): void {
  client.setQueryData(sessionQuery.queryKey, null);
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.code === "unauthenticated";
}

function mayRetry(failures: number, error: unknown): boolean {
  const passing = error instanceof ApiError && (error.code === "network" || error.status >= 500);
  return passing && failures < 2;
}
