import { actOnContainer, capacity, createEnvironment, resetPassword, settingsProfile, validate } from "@berth/contract";
import { afterEach, expect, test, vi } from "vitest";
import { ApiError } from "./api-error.ts";
import { call, messageOf } from "./call.ts";
import { signInWithPassword } from "./identity-client.ts";
import { pathOf } from "./send.ts";
import { readSession, saveSession, signOut } from "./session.ts";

/** Each test mocks the replies of the network. */
interface Network {
  /** Tokens that the API accepts. */
  readonly good: string[];
  readonly refresh?: () => Response | Promise<Response>;
  readonly api?: () => Response | Promise<Response>;
}

const identity = {
  kind: "local" as const,
  apiKey: "key",
  accountsUrl: "/identity/v1/accounts",
  tokenUrl: "/identity/v1/token",
};
const check = () => call(validate, { params: {}, body: {} });

function setup({ good, refresh = () => refreshed("second"), api }: Network, expiresInMs = 3_600_000) {
  const calls: string[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    calls.push(`${init.method ?? "GET"} ${url.split("?")[0]}`);
    if (url === "/config") return Response.json({ identity });
    if (url.startsWith(identity.tokenUrl)) return refresh();
    if (api) return api();
    const token = new Headers(init.headers).get("authorization")?.replace("Bearer ", "") ?? "";
    return good.includes(token) ? Response.json({ status: "success" }) : refusal(401, "unauthenticated");
  });
  const expiresAt = Date.now() + expiresInMs;
  saveSession({ idToken: "first", refreshToken: "r1", userId: "u1", email: "ada@uni.example", expiresAt });
  return { calls };
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  signOut();
});

function refreshed(token: string): Response {
  return Response.json({ id_token: token, refresh_token: "r2", expires_in: "3600", user_id: "u1" });
}

function refusal(status: number, code: string): Response {
  return Response.json({ status: "error", code, message: `Refused: ${code}`, detail: "" }, { status });
}

function identityRefusal(status: number, message: string): Response {
  return Response.json({ error: { code: status, message } }, { status });
}

test("a valid token is sent unchanged", async () => {
  const { calls } = setup({ good: ["first"] });
  await expect(check()).resolves.toEqual({ status: "success" });
  expect(calls).toEqual(["GET /auth/validate"]);
});

test("a 401 causes one refresh and one retry", async () => {
  const { calls } = setup({ good: ["second"] });
  await expect(check()).resolves.toEqual({ status: "success" });
  expect(calls.filter((made) => made === "GET /auth/validate")).toHaveLength(2);
  expect(readSession()).toMatchObject({ idToken: "second", refreshToken: "r2", email: "ada@uni.example" });
});

test("concurrent 401s share one refresh", async () => {
  const { calls } = setup({ good: ["second"] });
  await Promise.all([check(), check(), check()]);
  expect(calls.filter((made) => made === "POST /identity/v1/token")).toHaveLength(1);
});

test("a 401 with a fresh token signs out", async () => {
  setup({ good: [] });
  await expect(check()).rejects.toMatchObject({ code: "unauthenticated", status: 401 });
  expect(readSession()).toBeUndefined();
});

test.each(["TOKEN_EXPIRED", "USER_DISABLED", "INVALID_REFRESH_TOKEN : gone"])(
  "a refresh refused with %s signs out",
  async (code) => {
    setup({ good: [], refresh: () => identityRefusal(400, code) });
    await expect(check()).rejects.toMatchObject({ status: 401 });
    expect(readSession()).toBeUndefined();
  },
);

test.each([
  ["no answer", () => Promise.reject(new TypeError("Failed to fetch"))],
  ["a 503", () => identityRefusal(503, "UNAVAILABLE")],
  ["a 429", () => identityRefusal(429, "TOO_MANY_ATTEMPTS_TRY_LATER")],
])("a refresh that fails with %s keeps the session", async (_, refresh) => {
  setup({ good: [], refresh });
  await expect(check()).rejects.toMatchObject({ code: "network" });
  expect(readSession()?.idToken).toBe("first");
});

test("network errors and 5xx keep the session", async () => {
  setup({ good: [], api: () => Promise.reject(new TypeError("Failed to fetch")) });
  await expect(check()).rejects.toMatchObject({ code: "network", status: 0 });
  setup({ good: [], api: () => new Response("<h1>Bad gateway</h1>", { status: 502 }) });
  await expect(check()).rejects.toMatchObject({ code: "unavailable", status: 502 });
  expect(readSession()?.idToken).toBe("first");
});

test.each(["the head", "the body"])(
  "a request whose answer is lost before %s fails after 30 s, not earlier",
  async (at) => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", lostAnswers(at === "the body"));
    const reply = call(capacity, { params: {}, body: {} }).catch((error: unknown) => error);
    const signIn = signInWithPassword(identity, "ada@uni.example", "secret").catch((error: unknown) => error);
    const both = Promise.all([reply, signIn]);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(await Promise.race([both, "waits"])).toBe("waits");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.race([both, "waits"])).toMatchObject([{ code: "network" }, { code: "NETWORK" }]);
  },
);

test("a call of a server that waits by itself has its own bound, and its caller may leave earlier", async () => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", lostAnswers(false));
  const left = new AbortController();
  const slow = call(capacity, { params: {}, body: {} }, { withinMs: 75_000, signal: left.signal });
  const outcome = slow.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(74_000);
  expect(await Promise.race([outcome, "waits"])).toBe("waits");
  left.abort();
  expect(await outcome).toMatchObject({ name: "AbortError" });
});

/** Answers as a browser does whose network is gone: never, until the request is aborted. */
function lostAnswers(begins: boolean) {
  const never = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  return async (_url: string, { signal }: RequestInit): Promise<Response> => {
    // No bound at all: it waits for ever.
    const gone = signal ? never(signal) : new Promise<never>(() => undefined);
    if (!begins) return await gone;
    return Object.assign(Response.json({}), { json: () => gone });
  };
}

test("a token older than 50 minutes is refreshed before the call", async () => {
  const { calls } = setup({ good: ["second"] }, 9 * 60_000);
  await check();
  expect(calls.filter((made) => made === "GET /auth/validate")).toHaveLength(1);
  expect(readSession()?.idToken).toBe("second");
});

test("signing out during a refresh stays signed out", async () => {
  setup({
    good: ["second"],
    refresh: () => {
      signOut();
      return refreshed("second");
    },
  });
  await expect(check()).rejects.toBeInstanceOf(ApiError);
  expect(readSession()).toBeUndefined();
});

test("without a session nothing is sent", async () => {
  const { calls } = setup({ good: ["first"] });
  signOut();
  await expect(check()).rejects.toMatchObject({ status: 401 });
  expect(calls).toEqual([]);
});

test("a public call carries no token", async () => {
  setup({ good: [] });
  const seen: (string | null)[] = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    seen.push(new Headers(init.headers).get("authorization"));
    return Response.json({ status: "success" });
  });
  await call(capacity, { params: {}, body: {} });
  expect(seen).toEqual([null]);
});

test("a refusal keeps its code, message and state of the money", async () => {
  const body = {
    status: "error",
    code: "not_delivered",
    message: "Not delivered",
    detail: "",
    money: "refund_started",
  };
  setup({ good: [], api: () => Response.json(body, { status: 409 }) });
  await expect(check()).rejects.toMatchObject({
    code: "not_delivered",
    message: "Not delivered",
    money: "refund_started",
  });
});

const act = () => call(actOnContainer, { params: { action: "pause", container_id: "e1", user_id: "u1" }, body: {} });

test.each([
  ["nothing", {}, ""],
  ["a page of its own", "<h1>Bad gateway</h1>", ""],
  ["a blank message", { message: " " }, ""],
  ["detail alone", { detail: "Only detail here" }, "Only detail here"],
  ["both", { message: "No GPU is free", detail: "x" }, "No GPU is free"],
  ["what is no text", { detail: [{ loc: ["body"] }] }, ""],
])("a refusal with %s has only its own message (G117)", async (_, body, message) => {
  setup({ good: [], api: () => Response.json(body, { status: 500 }) });
  await expect(act()).rejects.toMatchObject({ code: "unavailable", status: 500, message });
});

test.each([
  [{ status: "error", message: "No GPU is free" }, "No GPU is free"],
  [{ success: false, detail: "Frozen" }, "Frozen"],
  [{ status: "success", success: false }, ""],
  [{ status: "failed" }, ""],
])("a reply of HTTP 200 with %j is a refusal (G117)", async (body, message) => {
  setup({ good: [], api: () => Response.json(body) });
  await expect(act()).rejects.toMatchObject({ code: "invalid_request", status: 200, message });
});

test.each([{ success: true }, { status: "success" }, {}])("%j is the success of an action", async (body) => {
  setup({ good: [], api: () => Response.json(body) });
  await expect(act()).resolves.toEqual(body);
});

test("a starting environment is no refusal, and for a reset only the HTTP status counts", async () => {
  setup({ good: [], api: () => Response.json({ status: "pending", jupyter_token: "t" }) });
  const request = { params: {}, body: {} } as Parameters<typeof call<typeof createEnvironment>>[1];
  await expect(call(createEnvironment, request)).resolves.toMatchObject({ status: "pending" });
  const reset = () => call(resetPassword, { params: {}, body: { email: "ada@uni.example" } });
  setup({ good: [], api: () => Response.json({ status: "error" }) });
  await expect(reset()).resolves.toBeDefined();
  setup({ good: [], api: () => new Response("") });
  await expect(reset()).resolves.toBeUndefined();
});

test.each([{ status: "error" }, {}])("a token with the reply %j is invalid", async (body) => {
  setup({ good: [], api: () => Response.json(body) });
  await expect(check()).rejects.toMatchObject({ code: "unauthenticated" });
  expect(readSession()).toBeUndefined();
});

test("an unreadable reply does not make the token invalid", async () => {
  setup({ good: [], api: () => new Response("<h1>Sign in to this network</h1>") });
  await expect(check()).rejects.toMatchObject({ code: "network" });
  expect(readSession()?.idToken).toBe("first");
});

test("the message of a failure, never a bare status (G117)", () => {
  expect(messageOf(new ApiError("unavailable", "Out for a moment", 503))).toBe("Out for a moment");
  expect(messageOf(new ApiError("unavailable", "", 503))).toBe("The server gave no reason.");
  expect(messageOf(new ApiError("network", "x", 0), "Try again")).toBe("Try again");
  expect(messageOf(new Error("x"))).toBe("No answer from the server.");
});

test("path parameters are encoded", () => {
  expect(pathOf(settingsProfile, { user_id: "../a b" })).toBe("/settings/..%2Fa%20b/profile");
});
