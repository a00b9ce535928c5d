import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { testDatabase } from "../database/testing.ts";
import { containerRequest, type TestApp, type TestUser, testApp } from "../testing/test-app.ts";

/** Three replicas of api, gateway and worker, each with connections of its own to one database. */
async function threeReplicas(env: Record<string, string> = {}): Promise<[TestApp, TestApp, TestApp]> {
  const database = await testDatabase();
  const first = await testApp(env, { database });
  const beside = async () => await testApp(env, { database: await database.beside(), machine: first.driver.machine });
  const replicas: [TestApp, TestApp, TestApp] = [first, await beside(), await beside()];
  return replicas;
}

interface Answer {
  readonly status: number | undefined;
  readonly cookie: string | undefined;
}

const nameOf = (subdomain: string) => `${subdomain}.localhost:3000`;

/** What a gateway answers for an environment. */
async function ask({ url }: TestApp, subdomain: string, path: string, headers = {}): Promise<Answer> {
  const sent = request(`${url}${path}`, { agent: false, headers: { host: nameOf(subdomain), ...headers } }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  await text(answer);
  return { status: answer.statusCode, cookie: answer.headers["set-cookie"]?.[0]?.split(";")[0] };
}

/** A WebSocket to an environment, once it is open. */
async function openSocket({ url }: TestApp, subdomain: string, headers: Record<string, string>): Promise<WebSocket> {
  const host = nameOf(subdomain);
  const socket = new WebSocket(`${url.replace("http", "ws")}/echo`, {
    headers: { ...headers, host, origin: `http://${host}` },
  });
  onTestFinished(() => socket.terminate());
  socket.on("error", () => {});
  await once(socket, "open");
  return socket;
}

const whenever = { timeout: 25_000, interval: 20 };

/** An environment that the first replica delivered and that every gateway serves, with the header of its owner's scripts. */
async function rentEverywhere(replicas: readonly [TestApp, ...TestApp[]]) {
  const [{ deliver, signUp, rent }] = replicas;
  deliver();
  const ada = await signUp();
  const { environment_id: id, jupyter_token } = await rent(ada);
  const visit = { authorization: `token ${jupyter_token}` };
  for (const replica of replicas)
    await expect
      .poll(async () => (await ask(replica, "first-lab", "/api/terminals", visit)).status, whenever)
      .toBe(200);
  return { ada, id, visit };
}

/** The events of a user's stream, by kind. */
async function listen({ url }: TestApp, { token }: TestUser) {
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const response = await fetch(`${url}/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal: leave.signal,
  });
  const stream = { status: response.status, text: "", isOver: false };
  const read = async () => {
    for await (const chunk of response.body ?? []) stream.text += Buffer.from(chunk).toString();
  };
  void read()
    .catch(() => {})
    .finally(() => (stream.isOver = true));
  return stream;
}

test("what one replica sells another delivers once, and a third one tells and serves it", async () => {
  const [one, two, three] = await threeReplicas();
  for (const replica of [one, two, three]) replica.deliver();
  const ada = await one.signUp();
  const stream = await listen(three, ada);
  const payment_data = await two.pay(await one.order(ada));
  const body = { container_request: containerRequest(ada.id), payment_data };
  const made = await Promise.all(
    [one, two, three].map((replica) => replica.must("POST", "/docker/environment/create", ada.token, body)),
  );
  const [{ environment_id: id, jupyter_token }] = made;
  expect(made).toEqual(made.map(() => expect.objectContaining({ environment_id: id, status: "active" })));
  const runs = one.driver.machine.runs;
  expect([...runs.keys()]).toEqual([id]);
  const { rows } = await sql`select generation from environments`.execute(one.db);
  expect(rows).toEqual([{ generation: 1 }]);
  await expect.poll(() => stream.text, whenever).toContain(`{"kind":"environment","id":"${id}"}`);
  const authorization = `token ${jupyter_token}`;
  for (const replica of [one, two, three])
    await expect
      .poll(() => ask(replica, "first-lab", "/api/terminals", { authorization }), whenever)
      .toMatchObject({ status: 200 });
}, 120_000);

test("a code works once, at whichever of three gateways, and then at all of them", async () => {
  const replicas = await threeReplicas();
  const [, two, three] = replicas;
  const { ada } = await rentEverywhere(replicas);
  for (let round = 0; round < 3; round++) {
    const { code } = await two.must("POST", "/environments/first-lab/sign-in-code", ada.token, {});
    const path = `/_berth/sign-in?code=${code}&path=/lab&cleared=1`;
    const answers = await Promise.all(replicas.map((replica) => ask(replica, "first-lab", path)));
    const cookies = answers.flatMap(({ cookie }) => (cookie?.startsWith("env=") ? [cookie] : []));
    expect(cookies).toHaveLength(1);
    const cookie = cookies[0] ?? "";
    for (const replica of replicas)
      expect(await ask(replica, "first-lab", "/lab", { cookie })).toMatchObject({ status: 200 });
  }
  const tokens = await Promise.all(
    replicas.map(({ call }) =>
      call("POST", "/identity/v1/token?key=local", undefined, {
        grant_type: "refresh_token",
        refresh_token: ada.refreshToken,
      }),
    ),
  );
  expect(tokens.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect(new Set(tokens.map((reply) => reply.json().refresh_token)).size, "one successor").toBe(1);
  expect((await three.call("GET", "/notifications", ada.token)).statusCode).toBe(200);
}, 120_000);

test("what is revoked at one replica ends at all: sockets, visits, streams and tokens", async () => {
  const replicas = await threeReplicas();
  const [one, two] = replicas;
  const { ada, id, visit } = await rentEverywhere(replicas);
  const { url } = await two.must("POST", `/environments/${id}/share`, ada.token, { term: "1h" });
  const { pathname, search } = new URL(url);
  const opened = () => Promise.all(replicas.map((replica) => ask(replica, "first-lab", `${pathname}${search}`)));
  expect((await opened()).map(({ status }) => status)).toEqual([200, 200, 200]);
  const sockets = await Promise.all(replicas.map((replica) => openSocket(replica, "first-lab", visit)));
  const streams = await Promise.all(replicas.map((replica) => listen(replica, ada)));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  const change = { current_password: "good password 1", new_password: "Second password 2!" };
  await one.must("POST", `/profile/${ada.id}/update_password`, ada.token, change);
  const again = await two.must("POST", "/auth/logout", ada.token, {});
  expect(again).toMatchObject({ status: "success" });
  await expect.poll(() => sockets.map(({ readyState }) => readyState), whenever).toEqual([3, 3, 3]);
  await expect.poll(() => streams.map(({ isOver }) => isOver), whenever).toEqual([true, true, true]);
  for (const replica of replicas) {
    expect((await replica.call("GET", "/notifications", ada.token)).statusCode).toBe(401);
    expect(await ask(replica, "first-lab", "/api/terminals", visit)).toMatchObject({ status: 401 });
  }
  expect((await opened()).map(({ status }) => status)).toEqual([404, 404, 404]);
}, 120_000);

test("a gateway that stops tells open notebooks to connect again, and another one takes them (G177)", async () => {
  const replicas = await threeReplicas();
  const [one, two, three] = replicas;
  const { visit } = await rentEverywhere(replicas);
  const sockets = await Promise.all([1, 2, 3].map(() => openSocket(two, "first-lab", visit)));
  const kept = await openSocket(one, "first-lab", visit);
  const codes = sockets.map(async (socket) => (await once(socket, "close"))[0]);
  await two.gateway.close();
  expect(await Promise.all(codes)).toEqual([1012, 1012, 1012]);
  const again = await openSocket(three, "first-lab", visit);
  for (const socket of [kept, again]) {
    socket.send("still here");
    expect(String((await once(socket, "message"))[0])).toBe("still here");
  }
}, 120_000);

test("limits hold over three replicas: requests of a sign-in, and tries of a password", async () => {
  const replicas = await threeReplicas({ REQUESTS_PER_MINUTE: "60", SIGN_INS_PER_MINUTE: "10" });
  const ada = await replicas[0].signUp();
  const asked = replicas.flatMap(({ call }) =>
    Array.from({ length: 40 }, () => call("GET", "/notifications", ada.token)),
  );
  const answered = (await Promise.all(asked)).filter(({ statusCode }) => statusCode === 200).length;
  expect(answered).toBeLessThanOrEqual(60);
  expect(answered).toBeGreaterThanOrEqual(48);
  const guess = { email: ada.email, password: "not this one" };
  const url = "/identity/v1/accounts:signInWithPassword?key=local";
  const guesses = replicas.flatMap(({ call }) => Array.from({ length: 8 }, () => call("POST", url, undefined, guess)));
  const tried = (await Promise.all(guesses)).filter(({ body }) => body.includes("INVALID_LOGIN_CREDENTIALS")).length;
  expect(tried).toBeGreaterThan(0);
  expect(tried).toBeLessThanOrEqual(10);
}, 120_000);
