import { expect, test } from "vitest";
import { parseLog } from "./log-stream.ts";

test("whole events become lines, the rest waits; comments and what cannot be read are left out", () => {
  const first = parseLog(': connected\n\ndata: "one"\n\ndata: {\n\ndata: 7\n\ndata: "tw');
  expect(first).toEqual({ lines: ["one"], ended: false, rest: 'data: "tw' });
  const next = parseLog(`${first.rest}o"\n\nevent: over\ndata: {}\n\n`);
  expect(next).toEqual({ lines: ["two"], ended: true, rest: "" });
});

test("a line is shown as a terminal shows it in the end, and never ends the log by what it says", () => {
  const written = ["\u001b[32mok\u001b[0m", "10 %\r50 %\r100 %", "done\r", "event: over\n\ndata: x"];
  const { lines, ended } = parseLog(written.map((line) => `data: ${JSON.stringify(line)}\n\n`).join(""));
  expect(lines).toEqual(["ok", "100 %", "done", "event: over\n\ndata: x"]);
  expect(ended).toBe(false);
});
