import { expect, test } from "vitest";
import { testApp } from "../testing/test-app.ts";

test("the id of a request is in its answer and in every line of the log that it writes, and in no other's", async () => {
  const { call, signUp, order, lines } = await testApp();
  const ada = await signUp();
  await order(ada);
  const opened = lines().filter(({ event }) => event === "order.opened");
  expect(opened).toEqual([expect.objectContaining({ requestId: expect.stringMatching(/^[0-9a-z]{20,}$/) })]);
  const signedUp = lines().find(({ event }) => event === "user.signed_up");
  expect(signedUp?.["requestId"]).not.toBe(opened[0]?.["requestId"]);
  const replies = [
    await call("GET", "/config"),
    await call("GET", "/nowhere"),
    await call("POST", "/auth/signup", undefined, {}),
  ];
  const ids = replies.map(({ headers }) => headers["x-request-id"]);
  expect(new Set(ids).size).toBe(3);
  expect(replies.map(({ statusCode }) => statusCode)).toEqual([200, 404, 400]);
  for (const requestId of ids) expect(requestId).toMatch(/^[0-9a-z]{20,}$/);
});

test("a stream has the id too, and a 500 names the one of its answer", async () => {
  const { url, signUp, database, call } = await testApp();
  const ada = await signUp();
  const stream = await fetch(`${url}/events`, { headers: { authorization: `Bearer ${ada.token}` } });
  expect(stream.headers.get("x-request-id")).toMatch(/^[0-9a-z]{20,}$/);
  await stream.body?.cancel();
  await database.db.schema.dropTable("user_flags").execute();
  const failed = await call("GET", `/settings/${ada.id}`, ada.token);
  expect(failed.statusCode).toBe(500);
  expect(failed.json().message).toContain(failed.headers["x-request-id"]);
});
