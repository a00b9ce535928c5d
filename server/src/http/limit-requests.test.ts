import { expect, test } from "vitest";
import { type TestUser, testApp } from "../testing/test-app.ts";

const password = "good password 1";

/** Somebody who is signed in twice, and calls that ask for nothing but to be counted. */
async function setup(env: Record<string, string>) {
  const product = await testApp(env);
  const { app, must, signUp } = product;
  const ada = await signUp("Ada");
  const again = async (user: TestUser) => {
    const signIn = "/identity/v1/accounts:signInWithPassword";
    const { idToken } = await must("POST", signIn, undefined, { email: user.email, password });
    return { ...user, token: idToken as string };
  };
  const read = ({ token }: TestUser) =>
    app.inject({ url: "/notifications", headers: { authorization: `Bearer ${token}` } });
  const statuses = async (user: TestUser, times: number) => {
    const seen: number[] = [];
    for (let n = 0; n < times; n++) seen.push((await read(user)).statusCode);
    return seen;
  };
  return { ...product, ada, again, statuses };
}

test("an exhausted sign-in does not block the user's others; all together have twice the limit (G91)", async () => {
  const { ada, again, statuses } = await setup({ REQUESTS_PER_MINUTE: "3" });
  const [thief, third] = [await again(ada), await again(ada)];
  expect(await statuses(thief, 9)).toEqual([200, 200, 200, 429, 429, 429, 429, 429, 429]);
  expect(await statuses(ada, 4)).toEqual([200, 200, 200, 429]);
  expect(await statuses(third, 1)).toEqual([429]);
});

test("an exhausted limit does not block a password change, a sign-out or the account's deletion (G91)", async () => {
  const { ada, again, call, statuses, signUp } = await setup({ REQUESTS_PER_MINUTE: "3" });
  const twin = await again(ada);
  const usedUp = async (user: TestUser) => expect((await statuses(user, 7)).at(-1)).toBe(429);
  await usedUp(twin);
  await usedUp(ada);
  const change = { current_password: password, new_password: "Second password 2!" };
  expect((await call("POST", `/profile/${ada.id}/update_password`, ada.token, change)).statusCode).toBe(200);
  const back = { currentPassword: "Second password 2!", newPassword: password };
  expect((await call("POST", `/settings/${ada.id}/password`, ada.token, back)).statusCode).toBe(200);
  expect((await call("POST", "/auth/logout", ada.token, {})).statusCode).toBe(200);
  const eve = await signUp("Eve");
  await usedUp(eve);
  expect((await call("DELETE", `/profile/${eve.id}`, eve.token, { password })).statusCode).toBe(200);
});

test("public reads are limited per network; files, pages and health are not", async () => {
  const { app } = await testApp({ ANONYMOUS_PER_MINUTE: "5" });
  const get = async (url: string, remoteAddress: string) => (await app.inject({ url, remoteAddress })).statusCode;
  const pages = ["/", "/favicon.svg", "/healthz", "/readyz"];
  for (let n = 0; n < 8; n++) for (const url of pages) expect(await get(url, "2001:db8:1::1"), url).toBeLessThan(400);
  const reads = ["/openapi.json", "/config", "/identity/.well-known/jwks.json", "/capacity", "/status"];
  for (const [n, url] of reads.entries()) expect(await get(url, `2001:db8:1::${n + 1}`), url).toBe(200);
  for (const url of reads) expect(await get(url, "2001:db8:1::ff"), url).toBe(429);
  expect(await get("/openapi.json", "2001:db8:2::1")).toBe(200);
  const signUp = { email: "ada@limits.example", password, name: "Ada" };
  const post = { method: "POST", url: "/auth/signup", payload: signUp, remoteAddress: "2001:db8:1::1" } as const;
  expect((await app.inject(post)).statusCode, "who reads much may still sign up").toBe(200);
  for (const url of pages) expect(await get(url, "2001:db8:1::1"), url).toBeLessThan(400);
});
