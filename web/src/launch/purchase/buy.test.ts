import { afterEach, expect, test, vi } from "vitest";
import { saveSession, signOut } from "../../api/session.ts";
import { firstDraft } from "../draft/draft.ts";
import { launchCovered, type Purchase } from "./buy.ts";

const purchase: Purchase = {
  ...{ draft: { ...firstDraft, subdomain: "free-lab" }, userId: "u1", isCovered: true },
  ...{ prefill: { name: "", email: "", contact: "" }, scriptUrl: "" },
};

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  signOut();
});

test("a launch that a code covers is asked for again while no answer arrives, and is not called refused (G302, G332)", async () => {
  const created = { status: "active", message: "", jupyter_token: "k", environment_id: "e1", subdomain: "free-lab" };
  const answers = [() => Promise.reject(new TypeError("Failed to fetch")), async () => Response.json(created)];
  vi.useFakeTimers();
  vi.stubGlobal("fetch", () => answers.shift()?.());
  const expiresAt = Date.now() + 3_600_000;
  saveSession({ idToken: "t", refreshToken: "r", userId: "u1", email: "ada@uni.example", expiresAt });
  const states: string[] = [];
  const launched = launchCovered(purchase, ({ phase }) => states.push(phase), new AbortController().signal);
  await vi.runAllTimersAsync();
  expect(await launched).toEqual(created);
  expect(states).toEqual([]);
});
