import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultCatalogue } from "@berth/contract";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "./config.ts";
import { CatalogueError, readCatalogueFile } from "./read-catalogue-file.ts";

function fileOf(text: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-catalogue-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "catalogue.json");
  writeFileSync(path, text);
  return path;
}

const text = JSON.stringify(defaultCatalogue, null, 2);

/** The messages about the default with one change of its text, without the path. */
function refusalOf(before: string, after: string): string {
  expect(text).toContain(before);
  const path = fileOf(text.replace(before, after));
  try {
    readCatalogueFile(path);
  } catch (error) {
    if (error instanceof CatalogueError) return error.message.replaceAll(path, "file");
    throw error;
  }
  return "";
}

const lineOf = (part: string) => text.slice(0, text.indexOf(part)).split("\n").length;

test("the default, written to a file, is read as it is", () => {
  expect(readCatalogueFile(fileOf(text))).toEqual(defaultCatalogue);
});

test.each([
  ["a wrong price", '"hourly": 0.2,', '"hourly": -1,', "prices[0].rows[0].hourly is not above 0"],
  ["a price as text", '"hourly": 0.2,', '"hourly": "0.20",', "prices[0].rows[0].hourly is not a number"],
  [
    "a price below a cent",
    '"hourly": 0.75,',
    '"hourly": 0.755,',
    "prices[0].rows[2].hourly has more than two decimals",
  ],
  ["a negative hour", "        6,\n", "        -6,\n", "prices[0].hours[1] is below 1"],
  ["an unknown field", '"name": "PyTorch",', '"name": "PyTorch", "color": 1,', "types[1].color is not a known field"],
  ["a type twice", '"id": "pytorch"', '"id": "jupyter"', "types[1].id repeats jupyter"],
  ["a name twice", '"name": "PyTorch"', '"name": "JupyterLab"', "types[1].name repeats JupyterLab"],
  ["a field twice", '"hourly": 0.2,', '"hourly": 0.2, "hourly": 2,', "prices[0].rows[0].hourly stands here twice"],
  [
    "a day that does not exist",
    '"from": "2026-01-01"',
    '"from": "2026-13-01"',
    "prices[0].from is not a day: 2026-13-01",
  ],
  ["a missing field", '"name": "PyTorch",', "", "types[1].name is missing or of the wrong kind"],
])("%s is refused with line and field", (_, before, after, problem) => {
  const line = problem.includes("missing") ? lineOf('"id": "pytorch"') - 1 : lineOf(before);
  expect(refusalOf(before, after)).toBe(`file, line ${line}: ${problem}`);
});

test("every problem is named at once", () => {
  const path = fileOf(text.replace('"hourly": 0.2,', '"hourly": 0,').replace('"gpus": 8', '"gpus": 0'));
  expect(() => readCatalogueFile(path)).toThrow(/rows\[0\]\.hourly is not above 0\n.*rows\[4\]\.gpus is below 1/);
});

test("a file that is no JSON, is empty or absent is refused", () => {
  expect(refusalOf('"id": "pytorch",', '"id": "pytorch"')).toMatch(
    /^file, line \d+: this is no JSON: a comma is missing here or on the line before$/,
  );
  expect(() => readCatalogueFile(fileOf(""))).toThrow("is empty");
  expect(() => readCatalogueFile("/nowhere/catalogue.json")).toThrow("cannot be read");
});

test("a file in another encoding than UTF-8 is refused, for its letters would be lost", () => {
  const latin = Buffer.from(text.replace("PyTorch", "PyTorch für Kurse"), "latin1");
  const line = lineOf('"name": "PyTorch"');
  expect(() => readCatalogueFile(fileOf(latin))).toThrow(`line ${line}: this is no UTF-8`);
});

test("a start with a bad file is refused with line and field; a good one is the configuration's catalogue", () => {
  const bad = fileOf(text.replace('"hourly": 0.2,', '"hourly": 0.205,'));
  expect(() => readConfig({ CATALOGUE: bad })).toThrow(
    /CATALOGUE: .*line \d+: prices\[0\]\.rows\[0\]\.hourly has more/,
  );
  const own = { ...defaultCatalogue, types: defaultCatalogue.types.slice(0, 1), limits: { gpus: 3 } };
  const config = readConfig({ CATALOGUE: fileOf(JSON.stringify(own)) });
  expect(config.catalogue).toEqual(own);
  expect(config.caps).toMatchObject({ gpusPerUser: 3, launchesPerUser: 3 });
  expect(readConfig({}).catalogue).toBe(defaultCatalogue);
});
