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
  /** A sign-in ended. */
  | "session"
  /** Others' access to a user's environments was revoked; the user's id. */
  | "rights"
  /** A public SSH key was removed. */
  | "ssh_key";

/** Payload of the triggers' notifications: which row of which user changed. */
interface Change {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly user: string;
}

type ChangeListener = (change: Change) => void;

export interface Changes {
  /** Listens to every change; `missed` runs after a lost connection, when derived state must be reloaded. */
  subscribe(listener: ChangeListener, missed?: () => void): () => void;
  /** Listens to one user's changes, so that changes of other users cost nothing. */
  subscribeUser(userId: string, listener: ChangeListener, missed?: () => void): () => void;
}

/** Shares one listening connection between all loops and open pages of the process. */
export async function openChanges(database: Database): Promise<Changes> {
  const [all, users] = [new Set<Subscriber>(), new Map<string, Set<Subscriber>>()];
  await database.listen(
    "changes",
    (payload) => {
      const change = readChange(payload);
      if (!change) return reloadAll();
      for (const { listener } of [...all, ...(users.get(change.user) ?? [])]) listener(change);
    },
    reloadAll,
  );

  function reloadAll(): void {
    for (const { missed } of [all, ...users.values()].flatMap((each) => [...each])) missed?.();
  }

  return {
    subscribe(listener, missed) {
      const subscriber = { listener, missed };
      all.add(subscriber);
      return () => void all.delete(subscriber);
    },
    subscribeUser(userId, listener, missed) {
      const subscriber = { listener, missed };
      const theirs = users.get(userId) ?? new Set();
      users.set(userId, theirs.add(subscriber));
      return () => {
        if (theirs.delete(subscriber) && theirs.size === 0) users.delete(userId);
      };
    },
  };
}

/** Undefined for what no trigger sends: any user of the database may notify, and must not end the server by it. */
function readChange(payload: string): Change | undefined {
  try {
    const { kind, id, user } = JSON.parse(payload);
    return { kind, id, user };
  } catch {
    return undefined;
  }
}

interface Subscriber {
  readonly listener: ChangeListener;
  readonly missed: (() => void) | undefined;
}
