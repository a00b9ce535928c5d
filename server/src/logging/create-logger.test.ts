import { expect, onTestFinished, test, vi } from "vitest";
import { createLogger } from "./create-logger.ts";
import { readableLine } from "./readable-line.ts";

function setup() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({
    level: "info",
    roles: ["api", "worker"],
    outageOf: (error) => (String(error).includes("terminated") ? "database.unreachable" : undefined),
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  return { log, lines };
}

test("a line has level, time, role, ids and event; lines below the level are dropped", () => {
  const { log, lines } = setup();
  const child = log.child({ hostId: "h1" });
  child.info({ event: "environment.started", environmentId: "e1" }, "an environment runs");
  child.debug("nothing");
  expect(lines).toEqual([
    {
      ...{ level: "info", time: new Date().toISOString(), pid: process.pid, role: "api,worker", hostId: "h1" },
      ...{ event: "environment.started", environmentId: "e1", msg: "an environment runs" },
    },
  ]);
});

test("a repeated failure is logged once, then counted in growing windows until one without a failure", async () => {
  const { log, lines } = setup();
  const fail = () => log.error({ event: "loop.failed", loop: "outbox", err: new Error("no disk") });
  for (let second = 0; second < 60; second++) {
    for (let n = 0; n < 10; n++) fail();
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(lines.map(({ repeated }) => repeated)).toEqual([undefined, 99, 200]);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(lines.map(({ repeated }) => repeated)).toEqual([undefined, 99, 200, 300]);
  fail();
  expect(lines).toHaveLength(5);
});

test("failures of different rows differ, and so do errors of different requests", () => {
  const { log, lines } = setup();
  for (const orderId of ["o1", "o2", "o1"]) log.warn({ event: "order.check_failed", orderId, err: new Error("no") });
  for (const requestId of ["r1", "r2"]) log.child({ requestId }).error(new Error("a bug"));
  for (const requestId of ["r1", "r2"]) log.child({ requestId }).warn(new Error("the provider is away"));
  expect(lines.map(({ orderId, requestId }) => orderId ?? requestId)).toEqual(["o1", "o2", "r1", "r2", "r1"]);
});

test("an outage that many components report is one failure", async () => {
  const { log, lines } = setup();
  for (const loop of ["outbox", "refunds", "reconciler"])
    log.child({ loop }).error({ event: "loop.failed", err: new Error(`Connection terminated for ${loop}`) });
  expect(lines).toMatchObject([{ event: "database.unreachable", during: "loop.failed", loop: "outbox" }]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lines[1]).toMatchObject({ event: "database.unreachable", repeated: 2 });
});

test("an error has type, message, code, stack and cause, without PostgreSQL's row values", () => {
  const { log, lines } = setup();
  const detail = "Key (email)=(ada@uni.example) already exists.";
  const cause = Object.assign(new Error("duplicate key"), { code: "23505", detail });
  log.error({ event: "x", err: new Error("not written", { cause }) });
  expect(lines[0]).toMatchObject({
    err: { type: "Error", message: "not written", cause: { message: "duplicate key", code: "23505" } },
  });
  expect(JSON.stringify(lines)).not.toContain("ada@uni.example");
  log.error({ err: new AggregateError([new Error("refused one"), new Error("refused two")]) });
  expect(lines[1]).toMatchObject({ err: { message: "refused one; refused two" } });
});

test("at a terminal a line is its message, with the level of warnings and errors", () => {
  const { log, lines } = setup();
  log.info({ event: "e", orderId: "o1" }, "an order is paid");
  log.warn({ event: "e" }, "SMTP_URL is not set: no mail is sent.");
  log.warn({ event: "e", err: new Error("no route") }, "a host does not answer");
  log.fatal({ event: "e" }, "environments are reachable from outside");
  expect(lines.map((line) => readableLine(JSON.stringify(line)))).toEqual([
    "an order is paid\n",
    "WARNING: SMTP_URL is not set: no mail is sent.\n",
    "WARNING: a host does not answer: no route\n",
    "ALARM: environments are reachable from outside\n",
  ]);
});
