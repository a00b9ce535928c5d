import { createStore } from "./create-store.ts";
import { readStorage, writeStorage } from "./storage.ts";

/** The sign-in of this browser. The first three storage keys are specified (spec 3.5). */
export interface Session {
  readonly idToken: string;
  readonly userId: string;
  readonly email: string;
  readonly refreshToken: string;
  /** Milliseconds since the epoch, by this browser's clock. */
  readonly expiresAt: number;
}

const keys = {
  idToken: "idToken",
  userId: "user_id",
  email: "userEmail",
  refreshToken: "refreshToken",
  expiresAt: "expiresAt",
} as const;

let known: Session | undefined;
let leaving = false;

const store = createStore(readSession);
export const subscribeSession = store.subscribe;
/** Undefined if signed out, and during prerendering. */
export const useSession = store.useValue;

// Another tab signed in or out.
globalThis.addEventListener?.("storage", ({ key }) => {
  if (key === null || Object.values<string>(keys).includes(key)) store.notify();
});

/** Returns the same object until the stored values change, as React's stores require. */
export function readSession(): Session | undefined {
  const idToken = readStorage(keys.idToken);
  const userId = readStorage(keys.userId);
  if (!idToken || !userId) {
    known = undefined;
    return known;
  }
  const found: Session = {
    idToken,
    userId,
    email: readStorage(keys.email) ?? "",
    refreshToken: readStorage(keys.refreshToken) ?? "",
    expiresAt: Number(readStorage(keys.expiresAt) ?? 0),
  };
  if (!known || !same(known, found)) known = found;
  return known;
}

export function saveSession(session: Session): void {
  // The id token is written last, so that a reader of a new one finds the other values.
  writeStorage(keys.userId, session.userId);
  writeStorage(keys.email, session.email);
  writeStorage(keys.refreshToken, session.refreshToken);
  writeStorage(keys.expiresAt, String(session.expiresAt));
  writeStorage(keys.idToken, session.idToken);
  store.notify();
}

/** Clears the stored credentials, here and in every other tab. */
export function signOut(): void {
  for (const key of Object.values(keys)) writeStorage(key, null);
  store.notify();
}

/** Marks a sign-out in this tab, so that a 401 meanwhile is not shown as an ended sign-in. */
export function setLeaving(value: boolean): void {
  leaving = value;
}

export function isLeaving(): boolean {
  return leaving;
}

function same(a: Session, b: Session): boolean {
  return (
    a.idToken === b.idToken &&
    a.userId === b.userId &&
    a.email === b.email &&
    a.refreshToken === b.refreshToken &&
    a.expiresAt === b.expiresAt
  );
}
