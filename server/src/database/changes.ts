import type { Database } from "./database.ts";

export type ChangeKind =
  | "environment"
  | "order"
  | "notification"
  | "grant"
  | "mail"
  | "home"
  | "queue"
  | "gateway_event";

/** What the triggers tell: which row of whom changed. */
interface Change {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly user: string;
}

export interface Changes {
  /** Hears every change from now on; `missed` runs when the connection was lost, so whatever is derived must be read again. */
  subscribe(heard: (change: Change) => void, missed?: () => void): () => void;
}

/** One listening connection for the whole process, however many loops and open pages hear it. */
export async function openChanges(database: Database): Promise<Changes> {
  const subscribers = new Set<{ heard: (change: Change) => void; missed: (() => void) | undefined }>();
  await database.listen(
    "changes",
    (payload) => {
      const change: Change = JSON.parse(payload);
      for (const { heard } of subscribers) heard(change);
    },
    () => {
      for (const { missed } of subscribers) missed?.();
    },
  );
  return {
    subscribe(heard, missed) {
      const subscriber = { heard, missed };
      subscribers.add(subscriber);
      return () => void subscribers.delete(subscriber);
    },
  };
}
