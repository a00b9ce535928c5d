import type { Database } from "./database.ts";

export type ChangeKind =
  | "environment"
  | "order"
  | "notification"
  | "grant"
  | "mail"
  | "home"
  | "queue"
  | "gateway_event"
  /** A sign-in ended; its id. */
  | "session"
  /** What others held of a user's environments was taken back; the user's id. */
  | "rights";

/** What the triggers tell: which row of whom changed. */
interface Change {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly user: string;
}

type Heard = (change: Change) => void;

export interface Changes {
  /** Hears every change from now on; `missed` runs when the connection was lost, so whatever is derived must be read again. */
  subscribe(heard: Heard, missed?: () => void): () => void;
  /** Hears one user's only: what others do costs an open page nothing. */
  subscribeUser(userId: string, heard: Heard, missed?: () => void): () => void;
}

/** One listening connection for the whole process, however many loops and open pages hear it. */
export async function openChanges(database: Database): Promise<Changes> {
  const [everyones, users] = [new Set<Subscriber>(), new Map<string, Set<Subscriber>>()];
  await database.listen(
    "changes",
    (payload) => {
      const change: Change = JSON.parse(payload);
      for (const { heard } of [...everyones, ...(users.get(change.user) ?? [])]) heard(change);
    },
    () => {
      for (const { missed } of [everyones, ...users.values()].flatMap((each) => [...each])) missed?.();
    },
  );
  return {
    subscribe(heard, missed) {
      const subscriber = { heard, missed };
      everyones.add(subscriber);
      return () => void everyones.delete(subscriber);
    },
    subscribeUser(userId, heard, missed) {
      const subscriber = { heard, missed };
      const theirs = users.get(userId) ?? new Set();
      users.set(userId, theirs.add(subscriber));
      return () => {
        if (theirs.delete(subscriber) && theirs.size === 0) users.delete(userId);
      };
    },
  };
}

interface Subscriber {
  readonly heard: Heard;
  readonly missed: (() => void) | undefined;
}
