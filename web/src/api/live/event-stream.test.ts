import { expect, test } from "vitest";
import { parseEvents } from "./event-stream.ts";

test("complete events are parsed, an incomplete one waits", () => {
  const first = parseEvents(": connected\r\n\r\ndata: one\r\n\r\nevent: over\ndata: {}\n\ndata: tw");
  expect(first.events.filter(({ data }) => data !== "")).toEqual([
    { name: "message", data: "one" },
    { name: "over", data: "{}" },
  ]);
  expect(parseEvents(`${first.rest}o\ndata: lines\n\n`)).toEqual({
    events: [{ name: "message", data: "two\nlines" }],
    rest: "",
  });
});
