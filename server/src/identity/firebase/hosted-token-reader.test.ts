import { createPublicKey, createSecretKey } from "node:crypto";
import { decodeProtectedHeader, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { hostedTokenReader } from "./hosted-token-reader.ts";
import { startStandIn } from "./testing/stand-in.ts";

const there = await startStandIn();
afterAll(() => there.stop());
beforeEach(() => {
  there.counts.keys = 0;
  Object.assign(there.state, { isAway: false, maxAgeSeconds: 3600 });
});

const reader = (emulator?: string) => hostedTokenReader({ ...there.project, emulator }, there.urls.keys);
const outcomeOf = (token: string, read = reader()) =>
  read(token).then(
    ({ uid }) => uid,
    (error) => error.code ?? String(error),
  );
const seconds = () => Math.floor(Date.now() / 1000);

test.each<[string, string, () => JWTPayload & { authTime?: number }]>([
  ["ada", "a token of the project", () => ({})],
  ["ada", "clocks that differ by half a minute", () => ({ iat: seconds() + 30, authTime: seconds() + 30 })],
  ["INVALID_ID_TOKEN", "another project's audience", () => ({ aud: "other-project" })],
  ["INVALID_ID_TOKEN", "another project's issuer", () => ({ iss: "https://securetoken.google.com/other-project" })],
  [
    "INVALID_ID_TOKEN",
    "a session cookie of the same project",
    () => ({ iss: "https://session.firebase.google.com/berth-test" }),
  ],
  ["INVALID_ID_TOKEN", "nobody", () => ({ sub: "" })],
  ["INVALID_ID_TOKEN", "an id that the database refuses", () => ({ sub: "a\u0000b" })],
  ["INVALID_ID_TOKEN", "a sign-in of tomorrow", () => ({ authTime: seconds() + 86_400 })],
  ["INVALID_ID_TOKEN", "a token of tomorrow", () => ({ iat: seconds() + 86_400, exp: seconds() + 90_000 })],
  ["INVALID_ID_TOKEN", "no time of a sign-in", () => ({ auth_time: undefined })],
  ["TOKEN_EXPIRED", "an expired token", () => ({ iat: seconds() - 3_900, exp: seconds() - 300 })],
  [
    "TOKEN_EXPIRED",
    "a token that claims to live longer than an hour",
    () => ({ iat: seconds() - 7_200, exp: seconds() + 90_000 }),
  ],
])("%s: %s", async (expected, _, changed) => {
  expect(await outcomeOf(await there.token("ada", changed()))).toBe(expected);
});

test("nobody signs in by a token that the provider did not sign", async () => {
  const good = await there.token("ada");
  const [header = "", payload = "", signature = ""] = good.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as JWTPayload;
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: "eve" })).toString("base64url");
  const publicKey = createPublicKey({ key: { ...there.publicKey() }, format: "jwk" });
  const secret = createSecretKey(publicKey.export({ format: "pem", type: "spki" }) as string, "utf8");
  const { kid = "" } = decodeProtectedHeader(good);
  const refused = [
    `${header}.${forged}.${signature}`,
    `${header}.${payload}.`,
    new UnsecuredJWT(claims).encode(),
    await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid }).sign(secret),
  ];
  for (const token of refused) expect(await outcomeOf(token)).toBe("INVALID_ID_TOKEN");
});

test("an emulator's tokens are unsigned ones of its project, and nothing else", async () => {
  const now = seconds();
  const claims = { iss: "https://securetoken.google.com/berth-test", aud: "berth-test", sub: "ada", auth_time: now };
  const token = (changed: JWTPayload = {}) =>
    new UnsecuredJWT({ ...claims, iat: now, exp: now + 60, ...changed }).encode();
  const read = reader("127.0.0.1:9099");
  expect(await outcomeOf(token(), read)).toBe("ada");
  expect(await outcomeOf(token({ aud: "other-project" }), read)).toBe("INVALID_ID_TOKEN");
  expect(await outcomeOf(token({ iat: now - 7_200, exp: now - 3_600 }), read)).toBe("TOKEN_EXPIRED");
  expect(await outcomeOf(await there.token("ada"), read)).toBe("INVALID_ID_TOKEN");
});

test("keys are fetched once for as long as the provider says, again for an unknown one, and not for each forgery", async () => {
  const read = reader();
  for (const uid of ["ada", "bob", "cy"]) expect(await outcomeOf(await there.token(uid), read)).toBe(uid);
  expect(there.counts.keys).toBe(1);

  const clock = vi.spyOn(performance, "now");
  onTestFinished(() => clock.mockRestore());
  const start = performance.now();
  const old = await there.token("ada");
  await there.replaceKeys();
  clock.mockReturnValue(start + 6_000);
  expect(await outcomeOf(await there.token("ada"), read)).toBe("ada");
  expect(there.counts.keys).toBe(2);
  for (let n = 0; n < 20; n++) expect(await outcomeOf(old, read)).toBe("INVALID_ID_TOKEN");
  expect(there.counts.keys).toBe(2);

  there.state.isAway = true;
  expect(await outcomeOf(await there.token("ada"), read), "still within the hour").toBe("ada");
  clock.mockReturnValue(start + 3_700_000);
  expect(await outcomeOf(await there.token("ada"), read)).toBe("UNAVAILABLE");
  there.state.isAway = false;
  expect(await outcomeOf(await there.token("ada"), read)).toBe("ada");
});
