import { setTimeout as sleep } from "node:timers/promises";
import type { Overview } from "@berth/contract/console/overview";

/** An operator who signed in to the console with a one-time link. */
export interface OperatorConsole {
  /** What stands on Now: the titles of the findings as last checked, or the sentence of a refusal. */
  now(): Promise<readonly string[]>;
  /** As a press on "Check again" whose result is awaited. */
  checkAgain(): Promise<readonly string[]>;
}

/** `link` is what `operators add` prints. */
export async function openConsole(link: string): Promise<OperatorConsole> {
  const { origin, hash } = new URL(link);
  const code = { link: hash.slice(1) };
  const cookies = new Map<string, string>();
  const call = async (method: "GET" | "POST", path: string, body?: object) => {
    const reply = await fetch(`${origin}/operator/api/${path}`, {
      method,
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(body && { origin, "content-type": "application/json" }),
      },
      body: body ? JSON.stringify(body) : null,
    });
    for (const line of reply.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return { isRefused: !reply.ok, body: (await reply.json()) as Overview & { readonly message: string } };
  };
  for (const [path, body] of [
    ["link/open", code],
    ["link/spend", { ...code, password: "a password of the proof 1", code: "" }],
  ] as const) {
    const { isRefused, body: reply } = await call("POST", path, body);
    if (isRefused) throw new Error(`${path}: ${reply.message}`);
  }
  const now = async () => {
    const { isRefused, body } = await call("GET", "now");
    return isRefused ? { titles: [body.message], isChecking: false } : read(body);
  };
  return {
    now: async () => (await now()).titles,
    async checkAgain() {
      await call("POST", "now/check", {});
      for (;;) {
        // As often as a screen that waits, because the console limits requests.
        await sleep(1_000);
        const { titles, isChecking } = await now();
        if (!isChecking) return titles;
      }
    },
  };
}

function read({ doctor: { findings, running } }: Overview) {
  return { titles: findings.map(({ what }) => what), isChecking: running };
}
