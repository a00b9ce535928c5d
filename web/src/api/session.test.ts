import { afterEach, expect, test, vi } from "vitest";
import { readSession, saveSession, signOut, subscribeSession } from "./session.ts";

const session = { idToken: "t", refreshToken: "r", userId: "u1", email: "ada@uni.example", expiresAt: 1 };

function setup(blocked: boolean) {
  const held = new Map<string, string>();
  const refuse = () => {
    throw new DOMException("blocked", "SecurityError");
  };
  vi.stubGlobal("localStorage", {
    getItem: blocked ? refuse : (key: string) => held.get(key) ?? null,
    setItem: blocked ? refuse : (key: string, value: string) => held.set(key, value),
    removeItem: blocked ? refuse : (key: string) => held.delete(key),
  });
  return { held };
}

afterEach(() => {
  signOut();
  vi.unstubAllGlobals();
});

test("the sign-in is stored under the specified keys", () => {
  const { held } = setup(false);
  saveSession(session);
  expect(Object.fromEntries(held)).toMatchObject({ idToken: "t", user_id: "u1", userEmail: "ada@uni.example" });
  expect(readSession()).toEqual(session);
  expect(readSession()).toBe(readSession());
  signOut();
  expect(held.size).toBe(0);
  expect(readSession()).toBeUndefined();
});

test("without a user there is no session", () => {
  const { held } = setup(false);
  saveSession(session);
  held.delete("user_id");
  expect(readSession()).toBeUndefined();
});

test("blocked storage keeps the sign-in as long as the page lives", () => {
  setup(true);
  saveSession(session);
  expect(readSession()).toEqual(session);
  signOut();
  expect(readSession()).toBeUndefined();
});

test("listeners run on sign-in and sign-out until they unsubscribe", () => {
  setup(false);
  const listener = vi.fn();
  const unsubscribe = subscribeSession(listener);
  saveSession(session);
  signOut();
  expect(listener).toHaveBeenCalledTimes(2);
  unsubscribe();
  saveSession(session);
  expect(listener).toHaveBeenCalledTimes(2);
});
