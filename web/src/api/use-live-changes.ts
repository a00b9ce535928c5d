import type { Change } from "@berth/contract";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { withToken } from "./call.ts";
import { readEvents } from "./event-stream.ts";
import { checkVersion } from "./product-config.ts";
import { keys } from "./queries.ts";
import { useSession } from "./session.ts";

/** How long the next attempt waits, and how often is asked while no stream is open (design 7). */
const retryMs = [1_000, 2_000, 5_000, 15_000, 30_000] as const;
const pollMs = { waiting: 3_000, calm: 30_000 } as const;

/**
 * Keeps what the app shows true while somebody is signed in. One tab holds the stream and tells the others: browsers
 * allow six connections per host, and a stream per tab would leave none for calls.
 */
export function useLiveChanges(): void {
  const client = useQueryClient();
  const userId = useSession()?.userId;
  useEffect(() => {
    if (userId === undefined) return;
    const ended = new AbortController();
    const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(`changes-${userId}`) : undefined;
    const tell = (heard: Change | "all") => {
      apply(client, userId, heard);
      channel?.postMessage(heard);
    };
    const live = { open: false };
    if (channel) {
      channel.onmessage = ({ data }: MessageEvent<Change | "all">) => apply(client, userId, data);
    }
    void holdStream(userId, ended.signal, live, tell);
    const stopPolling = poll(client, userId, live, tell);
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

type Tell = (heard: Change | "all") => void;

async function holdStream(userId: string, signal: AbortSignal, live: Live, tell: Tell): Promise<void> {
  const keep = () => keepStream(signal, live, tell);
  if (!navigator.locks || !("BroadcastChannel" in globalThis)) return keep();
  // The tabs that wait here are told by the one that holds it; they poll for nothing.
  live.open = true;
  await navigator.locks
    .request(`changes-${userId}`, { signal }, () => {
      live.open = false;
      return keep();
    })
    .catch(() => undefined);
}

async function keepStream(signal: AbortSignal, live: Live, tell: Tell): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    const opened = () => {
      failures = 0;
      live.open = true;
      // Whatever happened while nobody listened.
      tell("all");
    };
    await withToken((token) => readEvents(token, { opened, heard: tell, signal })).catch(() => undefined);
    live.open = false;
    await wait(retryMs[Math.min(failures, retryMs.length - 1)] ?? 30_000, signal);
  }
}

/** The way without a stream: often while something is under way, seldom otherwise. */
function poll(client: QueryClient, userId: string, live: Live, tell: Tell): () => void {
  let asked = Date.now();
  const timer = setInterval(() => {
    const everyMs = isWaiting(client, userId) ? pollMs.waiting : pollMs.calm;
    if (live.open || Date.now() - asked < everyMs) return;
    asked = Date.now();
    tell("all");
  }, 1_000);
  return () => clearInterval(timer);
}

function isWaiting(client: QueryClient, userId: string): boolean {
  const held = client.getQueryData<{ user_data: { containers: Record<string, { status: string }> } }>(
    keys.profile(userId),
  );
  return Object.values(held?.user_data.containers ?? {}).some(({ status }) => status === "pending");
}

function apply(client: QueryClient, userId: string, heard: Change | "all"): void {
  const again = (queryKey: readonly unknown[]) => void client.invalidateQueries({ queryKey });
  const told = (...kinds: readonly Change["kind"][]) => heard === "all" || kinds.includes(heard.kind);
  if (told("notification")) again(keys.notifications(userId));
  if (told("home", "environment")) again(keys.files(userId));
  if (told("environment", "order", "home")) again(keys.profile(userId));
  if (told("environment", "order")) again(keys.billing(userId));
  if (told("queue")) again(keys.place(userId));
  if (heard !== "all" && heard.kind === "queue") again(keys.capacity);
  // A refund that arrives may change nothing of its order, but it is always told to who waits for it.
  if (told("environment", "order", "notification")) again(keys.orders);
  if (heard === "all") {
    again(["environment"]);
    // The connection was gone for a while, perhaps because of an upgrade.
    void checkVersion();
  }
  if (heard !== "all" && heard.kind === "environment") {
    again(heard.id === null ? ["environment"] : keys.environment(heard.id));
    again(keys.capacity);
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
