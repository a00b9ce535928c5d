import { expect, test } from "vitest";
import { parseEvents } from "./event-stream.ts";

test("whole events are taken, a broken-off one waits", () => {
  const { changes, rest } = parseEvents('data: {"kind":"environment","id":"a1"}\n\ndata: {"kind":"ord');
  expect(changes).toEqual([{ kind: "environment", id: "a1" }]);
  expect(parseEvents(`${rest}er","id":null}\n\n`).changes).toEqual([{ kind: "order", id: null }]);
});

test("heartbeats, unknown kinds and broken data are passed over", () => {
  const received =
    ': still here\n\ndata: {"kind":"weather","id":"x"}\n\ndata: {broken\n\ndata: null\n\nevent: x\r\ndata: {"kind":"notification","id":null}\r\n\r\n';
  expect(parseEvents(received).changes).toEqual([{ kind: "notification", id: null }]);
});
