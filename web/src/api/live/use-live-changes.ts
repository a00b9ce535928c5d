import type { Change } from "@berth/contract";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { withToken } from "../call.ts";
import { checkVersion } from "../product-config.ts";
import { keys } from "../queries.ts";
import { useSession } from "../session.ts";
import { changeOf } from "./change-of.ts";
import { readEvents, type StreamEvent } from "./event-stream.ts";

/** Delay of the next attempt, and the polling interval while no stream is open. */
const retryMs = [1_000, 2_000, 5_000, 15_000, 30_000] as const;
const pollMs = { waiting: 3_000, calm: 30_000 } as const;

/**
 * Updates the query cache while a user is signed in. One tab holds the event stream and broadcasts changes to the others:
 * browsers allow six connections per host, and a stream per tab would leave none for calls.
 */
export function useLiveChanges(): void {
  const client = useQueryClient();
  const userId = useSession()?.userId;
  useEffect(() => {
    if (userId === undefined) return;
    const ended = new AbortController();
    const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(`changes-${userId}`) : undefined;
    const publish = (change: Change | "all") => {
      apply(client, userId, change);
      channel?.postMessage(change);
    };
    const live = { open: false };
    if (channel) {
      channel.onmessage = ({ data }: MessageEvent<Change | "all">) => apply(client, userId, data);
    }
    void holdStream(userId, ended.signal, live, publish);
    const stopPolling = poll(client, userId, live, publish);
    return () => {
      ended.abort();
      stopPolling();
      channel?.close();
    };
  }, [client, userId]);
}

interface Live {
  open: boolean;
}

type Publish = (change: Change | "all") => void;

async function holdStream(userId: string, signal: AbortSignal, live: Live, publish: Publish): Promise<void> {
  const keep = () => keepStream(signal, live, publish);
  if (!navigator.locks || !("BroadcastChannel" in globalThis)) return keep();
  // Tabs that wait for the lock get the changes from its holder, and do not poll.
  live.open = true;
  await navigator.locks
    .request(`changes-${userId}`, { signal }, () => {
      live.open = false;
      return keep();
    })
    .catch(() => undefined);
}

async function keepStream(signal: AbortSignal, live: Live, publish: Publish): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    const onOpen = () => {
      failures = 0;
      live.open = true;
      // Refetch, because changes may have been missed while no stream was open.
      publish("all");
    };
    const onEvents = (events: readonly StreamEvent[]) => {
      for (const { data } of events) {
        const change = changeOf(data);
        if (change) publish(change);
      }
    };
    await withToken((token) => readEvents("/events", token, { onOpen, onEvents, signal })).catch(() => undefined);
    live.open = false;
    await wait(retryMs[Math.min(failures, retryMs.length - 1)] ?? 30_000, signal);
  }
}

/** Polls while there is no stream, more often while an environment starts. */
function poll(client: QueryClient, userId: string, live: Live, publish: Publish): () => void {
  let polledAt = Date.now();
  const timer = setInterval(() => {
    const everyMs = isWaiting(client, userId) ? pollMs.waiting : pollMs.calm;
    if (live.open || Date.now() - polledAt < everyMs) return;
    polledAt = Date.now();
    publish("all");
  }, 1_000);
  return () => clearInterval(timer);
}

function isWaiting(client: QueryClient, userId: string): boolean {
  const profile = client.getQueryData<{ user_data: { containers: Record<string, { status: string }> } }>(
    keys.profile(userId),
  );
  return Object.values(profile?.user_data.containers ?? {}).some(({ status }) => status === "pending");
}

function apply(client: QueryClient, userId: string, change: Change | "all"): void {
  const refetch = (queryKey: readonly unknown[]) => void client.invalidateQueries({ queryKey });
  const affects = (...kinds: readonly Change["kind"][]) => change === "all" || kinds.includes(change.kind);
  if (affects("notification")) refetch(keys.notifications(userId));
  if (affects("home", "environment")) refetch(keys.files(userId));
  if (affects("environment", "order", "home")) refetch(keys.profile(userId));
  if (affects("environment", "order")) refetch(keys.billing(userId));
  if (affects("order")) refetch(keys.unpaidOrders(userId));
  if (affects("queue")) refetch(keys.queue(userId));
  if (change !== "all" && change.kind === "queue") refetch(keys.capacity);
  // An arriving refund may leave its order unchanged, but always creates a notification.
  if (affects("environment", "order", "notification")) refetch(keys.orders);
  if (change === "all") {
    refetch(["environment"]);
    // After a reconnect the server may have been upgraded.
    void checkVersion();
  }
  if (change !== "all" && change.kind === "environment") {
    refetch(change.id === null ? ["environment"] : keys.environment(change.id));
    refetch(keys.capacity);
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
