import { expect, onTestFinished, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { type TestUser, testApp } from "../../testing/test-app.ts";

async function setup() {
  const product = await testApp();
  product.deliver();
  const { driver } = product;
  const [ada, bob] = [await product.signUp("Ada"), await product.signUp("Bob")];
  const { environment_id: id } = await product.rent(ada);
  const held = { logs: 0 };
  const real = driver.logs;
  driver.logs = async function* (...asked) {
    held.logs += 1;
    try {
      yield* real(...asked);
    } finally {
      held.logs -= 1;
    }
  };
  const lines = () => driver.machine.runs.get(id)?.lines ?? [];
  return {
    ...{ ...product, ada, bob, id, held },
    print: (...more: string[]) => void lines().push(...more),
    follow: (user: TestUser = ada, which = id) => follow(`${product.url}/environments/${which}/logs`, user),
    act: (action: string) => product.must("POST", `/docker/${action}_container/${id}/${ada.id}`, ada.token, {}),
  };
}

/** An open stream: its lines so far, whether it said that the run is over, and its end. */
async function follow(url: string, { token }: Pick<TestUser, "token">) {
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: leave.signal });
  let text = "";
  const stream = { response, ended: "", leave: () => leave.abort(), text: () => text };
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  })().then(
    () => (stream.ended = "at its end"),
    () => (stream.ended = "cut off"),
  );
  const events = () => text.split("\n\n").filter((event) => event.startsWith("data: "));
  return {
    ...stream,
    ended: () => stream.ended,
    lines: () => events().map((event): string => JSON.parse(event.slice(6))),
    over: () => text.includes("event: over\n"),
  };
}

test("the last 1,000 lines, then new ones, until the run is over", async () => {
  const { print, follow, act, held } = await setup();
  print(...Array.from({ length: 1500 }, (_, at) => `line ${at}`));
  const log = await follow();
  expect(log.response.headers.get("content-type")).toBe("text/event-stream");
  expect(log.response.headers.get("cache-control")).toBe("no-store");
  await expect.poll(() => log.lines().length).toBe(1000);
  expect([log.lines()[0], log.lines().at(-1)]).toEqual(["line 500", "line 1499"]);
  print("50 %\r100 %", "data: x\n\nevent: over", `${"x".repeat(10_000)}`);
  await expect.poll(() => log.lines().length).toBe(1003);
  expect(log.lines().slice(1000, 1002)).toEqual(["50 %\r100 %", "data: x\n\nevent: over"]);
  expect(log.lines()[1002]).toHaveLength(8192);
  expect(log.over()).toBe(false);
  await act("stop");
  await expect.poll(log.ended, { timeout: 5000 }).toBe("at its end");
  expect(held.logs).toBe(0);
  const after = await follow();
  await expect.poll(after.ended).toBe("at its end");
  expect([after.lines(), after.over()]).toEqual([[], true]);
});

test("another user's logs get the same reply as absent ones, and without a token there are none", async () => {
  const { follow, bob, ada, id, call, held } = await setup();
  const foreign = await call("GET", `/environments/${id}/logs`, bob.token);
  const none = await call("GET", `/environments/${newId()}/logs`, bob.token);
  expect([foreign.statusCode, foreign.body]).toEqual([404, none.body]);
  expect((await call("GET", "/environments/%00/logs", ada.token)).statusCode).toBe(404);
  expect((await follow({ ...ada, token: "not.a.token" })).response.status).toBe(401);
  expect(held.logs).toBe(0);
});

test("a reader who disconnects holds nothing; four streams are open at most; a sign-out and a closing server end them", async () => {
  const { follow, ada, held, must, app, signUp, rent } = await setup();
  const logs = await Promise.all([1, 2, 3, 4].map(() => follow()));
  await expect.poll(() => held.logs).toBe(4);
  expect((await follow()).response.status).toBe(429);
  for (const { leave } of logs) leave();
  await expect.poll(() => held.logs).toBe(0);
  const again = await follow();
  await expect.poll(() => held.logs).toBe(1);
  await must("POST", "/auth/logout", ada.token, {});
  await expect.poll(again.ended, { timeout: 3000 }).toBe("at its end");
  expect(again.over(), "the run goes on").toBe(false);
  const eve = await signUp("Eve");
  const { environment_id } = await rent(eve, { subdomain: "eves-lab" });
  const last = await follow(eve, environment_id);
  await app.close();
  await expect.poll(last.ended).toBe("at its end");
  await expect.poll(() => held.logs).toBe(0);
});

test("a new run ends the stream of the one before, whatever its machine reports", async () => {
  const { follow, db, id, driver } = await setup();
  driver.logs = async function* (_, { signal }) {
    yield "the run before";
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  };
  const log = await follow();
  await expect.poll(log.lines).toEqual(["the run before"]);
  await db
    .updateTable("environments")
    .set(({ eb }) => ({ generation: eb("generation", "+", 1) }))
    .where("id", "=", id)
    .execute();
  await expect.poll(log.ended, { timeout: 5000 }).toBe("at its end");
});
