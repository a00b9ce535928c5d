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

test("the server's own calls of its embedded provider count for no visitor; who guesses keys is limited", async () => {
  const { app, payments, order, pay, signUp } = await testApp({ ANONYMOUS_PER_MINUTE: "12" });
  const { provider } = payments;
  const checkout = await order(await signUp());
  const { razorpay_payment_id: paymentId } = await pay(checkout);
  for (let n = 0; n < 30; n++) {
    expect((await provider.payment(paymentId)).orderId).toBe(checkout.id);
    expect(await provider.paymentsOfOrder(checkout.id)).toHaveLength(1);
  }
  const guess = (n: number) =>
    app.inject({
      url: "/embedded-gateway/v1/payments",
      headers: { authorization: `Basic ${Buffer.from(`${provider.keyId}:guess-${n}`).toString("base64")}` },
    });
  const statuses: number[] = [];
  for (let n = 0; n < 14; n++) statuses.push((await guess(n)).statusCode);
  expect(statuses).toEqual([...Array(12).fill(401), 429, 429]);
  expect((await guess(0)).json().error.description).toContain("This network's limit of 12 requests a minute");
  expect((await provider.payment(paymentId)).id).toBe(paymentId);
});

test("a payment dialog uses up none of its network's limit, and has one of its own", async () => {
  const { app, order, signUp } = await testApp({ ANONYMOUS_PER_MINUTE: "6", REQUESTS_PER_MINUTE: "20" });
  const { id } = await order(await signUp());
  const get = (path: string) => app.inject({ url: `/embedded-gateway/v1/${path}` });
  for (let n = 0; n < 40; n++) expect((await get(`checkout?order_id=${id}`)).statusCode).toBe(200);
  for (let n = 0; n < 12; n++)
    for (const file of ["checkout.js", "checkout-page.js", "checkout.css"])
      expect((await get(file)).statusCode).toBe(200);
  const refused = await get(`checkout?order_id=${id}`);
  expect([refused.statusCode, refused.json().error.description]).toEqual([
    429,
    "Too many requests. Try again in a minute. This network's limit of 40 payment requests a minute is reached.",
  ]);
  expect((await app.inject({ url: "/config" })).statusCode).toBe(200);
});

test("a limit that is reached says whose it is", async () => {
  const limits = { REQUESTS_PER_MINUTE: "3", ANONYMOUS_PER_MINUTE: "12", UNAUTHENTICATED_PER_MINUTE: "2" };
  const { call, again, ada } = await setup(limits);
  const [twin, third] = [await again(ada), await again(ada)];
  const refusal = async (url: string, token?: string) => {
    for (let n = 0; n < 20; n++) {
      const reply = await call("GET", url, token);
      if (reply.statusCode === 429)
        return reply.json().message.replace(/^Too many requests. Try again in a minute. /, "");
    }
  };
  expect(await refusal("/notifications", ada.token)).toBe("This sign-in's limit of 3 requests a minute is reached.");
  expect(await refusal("/notifications", twin.token)).toBe("This sign-in's limit of 3 requests a minute is reached.");
  expect(await refusal("/notifications", third.token)).toBe("This account's limit of 6 requests a minute is reached.");
  expect(await refusal("/notifications")).toBe(
    "For requests that are not signed in, this network's limit of 2 requests a minute is reached.",
  );
  expect(await refusal("/config")).toBe("This network's limit of 12 requests a minute is reached.");
});
