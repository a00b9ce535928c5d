import { expect, test } from "vitest";
import { excerptOf } from "./excerpt-of.ts";

const written = (text: string, stems: readonly string[]) =>
  excerptOf(text, stems)
    .map(({ text: piece, hit }) => (hit ? `[${piece}]` : piece))
    .join("");

const long = "One two three four five six seven eight nine ten. ".repeat(5);

test("an excerpt stands around the first hit, marks whole words and cuts none (G344)", () => {
  const excerpt = written(`${long}The refund starts at once. ${long}`, ["refund", "start"]);
  expect(excerpt).toMatch(/^…\w+ .*The \[refund\] \[starts\] at once\. .* \w+…$/);
  expect(excerpt.length).toBeLessThan(170);
});

test("a short text is shown whole; without a hit it is the beginning (G344)", () => {
  expect(written("Files are kept.", ["kept"])).toBe("Files are [kept].");
  expect(written("Files are kept.", ["ssh"])).toBe("Files are kept.");
  expect(written(long, ["ssh"])).toMatch(/^One two .*\w…$/);
  expect(written("", ["ssh"])).toBe("");
});
