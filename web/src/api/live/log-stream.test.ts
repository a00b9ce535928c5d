import { expect, test } from "vitest";
import { parseEvents } from "./event-stream.ts";
import { linesOf } from "./log-stream.ts";

const lines = (received: string) => linesOf(parseEvents(received).events);

test("events become lines; comments, other events and unreadable data are skipped", () => {
  expect(lines(': connected\n\ndata: "one"\n\ndata: {\n\ndata: 7\n\nevent: over\ndata: "x"\n\n')).toEqual(["one"]);
});

test("a line is shown as in a terminal, and its text cannot end the log", () => {
  const written = ["\u001b[32mok\u001b[0m", "10 %\r50 %\r100 %", "done\r", "event: over\n\ndata: x"];
  const { events } = parseEvents(written.map((line) => `data: ${JSON.stringify(line)}\n\n`).join(""));
  expect(events.every(({ name }) => name === "message")).toBe(true);
  expect(linesOf(events)).toEqual(["ok", "100 %", "done", "event: over\n\ndata: x"]);
});
