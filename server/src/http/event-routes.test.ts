import { getActiveResourcesInfo } from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { announceByBell } from "../notifications/notifications.ts";
import { type TestApp, type TestUser, testApp } from "../testing/test-app.ts";

/** An open stream, what it has said so far, and its end. */
async function listen({ url }: TestApp, { token }: Pick<TestUser, "token">) {
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/events`, { headers, signal: leave.signal });
  const stream = { response, text: "", ended: "", leave: () => leave.abort() };
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) stream.text += decoder.decode(chunk, { stream: true });
  })().then(
    () => (stream.ended = "at its end"),
    () => (stream.ended = "cut off"),
  );
  return stream;
}

const changesIn = (text: string) => [...text.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(String(match[1])));

const notify = ({ db }: TestApp, { id: userId }: TestUser, cause = newId()) =>
  db.transaction().execute((tx) => announceByBell(tx, { userId, cause, title: "t", body: "b", link: null }));

const timers = () => getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

test("a stream sends the changes of its own user only", async () => {
  const product = await testApp();
  const stop = product.deliver();
  const [ada, bob] = [await product.signUp(), await product.signUp()];
  const [hers, his] = [await listen(product, ada), await listen(product, bob)];
  expect(hers.response.headers.get("content-type")).toBe("text/event-stream");
  expect(hers.response.headers.get("cache-control")).toBe("no-store");
  const { environment_id: id } = await product.rent(ada);
  await expect.poll(() => changesIn(hers.text)).toContainEqual({ kind: "environment", id });
  await stop();
  await notify(product, ada);
  await notify(product, bob);
  await expect.poll(() => changesIn(his.text)).toContainEqual({ kind: "notification", id: expect.any(String) });
  expect(changesIn(his.text), "his one notification, and nothing of her rental").toHaveLength(1);
  const kinds = new Set(changesIn(hers.text).map(({ kind }) => kind));
  expect(kinds).toEqual(new Set(["order", "environment", "notification", "home"]));
  for (const change of changesIn(hers.text)) expect(Object.keys(change)).toEqual(["kind", "id"]);
});

test("a stream needs a valid token", async () => {
  const product = await testApp();
  for (const headers of [{}, { authorization: "Bearer not.a.token" }, { authorization: "Bearer " }]) {
    const response = await fetch(`${product.url}/events`, { headers });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([401, "unauthenticated"]);
  }
});

test("closing the app ends every stream", async () => {
  const product = await testApp();
  const user = await product.signUp();
  const streams = [await listen(product, user), await listen(product, user)];
  const response = await fetch(`${product.url}/healthz`);
  expect(response.status).toBe(200);
  await product.app.close();
  await expect.poll(() => streams.map(({ ended }) => ended)).toEqual(["at its end", "at its end"]);
});

test("a closed stream leaks no timer", async () => {
  const product = await testApp();
  const user = await product.signUp();
  const before = timers();
  const streams = await Promise.all(Array.from({ length: 10 }, () => listen(product, user)));
  expect(timers()).toBeGreaterThanOrEqual(before + 20);
  for (const { leave } of streams) leave();
  await expect.poll(timers).toBeLessThan(before + 10);
});

test("at most ten streams per user, and a sign-out ends only those of that sign-in", async () => {
  const product = await testApp();
  const { must, call, signUp } = product;
  const [ada, bob] = [await signUp(), await signUp()];
  const signIn = "/identity/v1/accounts:signInWithPassword";
  const { idToken } = await must("POST", signIn, undefined, { email: ada.email, password: "good password 1" });
  const other = await listen(product, { token: idToken });
  const streams = await Promise.all(Array.from({ length: 9 }, () => listen(product, ada)));
  for (const { response } of streams) expect(response.status).toBe(200);
  const refused = await listen(product, ada);
  expect([refused.response.status, refused.response.headers.get("retry-after")]).toEqual([429, "10"]);
  const his = await listen(product, bob);
  expect(his.response.status, "another user has ten of their own").toBe(200);
  streams[0]?.leave();
  await expect.poll(async () => (await listen(product, ada)).response.status).toBe(200);

  await must("POST", "/auth/logout", ada.token, {});
  for (const stream of streams.slice(1)) await expect.poll(() => stream.ended, { timeout: 2000 }).toBe("at its end");
  expect([other.ended, his.ended]).toEqual(["", ""]);
  expect((await call("GET", "/events", ada.token)).statusCode).toBe(401);
});

test("a HEAD request opens no stream", async () => {
  const product = await testApp();
  const { token } = await product.signUp();
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${product.url}/events`, { method: "HEAD", headers })).status).toBe(404);
});
