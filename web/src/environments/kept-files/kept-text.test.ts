import { expect, test } from "vitest";
import { type Kept, keptText } from "./kept-text.ts";

const now = Date.parse("2026-11-20T10:00:00Z");
const kept = (change: Partial<Kept>) => ({ files_until: null, former_id: null, banked_seconds: 0, ...change }) as Kept;

test.each([
  ["2026-12-20T10:00:00Z", "30 days left"],
  ["2026-12-20T09:59:00Z", "29 days left"],
  ["2026-11-21T10:00:00Z", "1 day left"],
  ["2026-11-21T09:00:00Z", "23 h left"],
  ["2026-11-20T10:59:00Z", "Under an hour left"],
  ["soon", "Unknown"],
])("until %s: %s", (files_until, text) => {
  expect(keptText(kept({ files_until }), now)).toBe(text);
});

test("a stopped environment's files have no deletion date (G76)", () => {
  expect(keptText(kept({ banked_seconds: 7860 }), now)).toBe("Kept: 2h 11m left, clock stopped");
  expect(keptText(kept({}), now)).toBe("Kept while it is stopped");
});

test("former files have no end before their machine is back (G203)", () => {
  expect(keptText(kept({ former_id: "h" }), now)).toBe("On the machine that failed");
  expect(keptText(kept({ former_id: "h", files_until: "2026-12-20T10:00:00Z" }), now)).toBe("30 days left");
});
