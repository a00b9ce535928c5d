import { defaultCatalogue } from "@berth/contract";
import { expect, onTestFinished, test } from "vitest";
import { recordLog } from "../logging/testing/record-log.ts";
import type { Document } from "./documents.ts";
import { startRedrawingPages } from "./start-redrawing-pages.ts";

const page = (etag: string): Document => ({
  etag,
  scripts: [],
  body: async () => Buffer.from(""),
});

function setup(draw: () => Promise<Map<string, Document>>) {
  const [first] = defaultCatalogue.prices;
  const catalogue = {
    ...defaultCatalogue,
    prices: [...defaultCatalogue.prices, { ...first, from: "2027-02-01" }] as typeof defaultCatalogue.prices,
    terms: [{ from: "2027-03-01", summary: "Less." }],
  };
  const clock = { at: Date.parse("2027-01-31T23:59:59Z"), draws: 0, gpus: defaultCatalogue.gpus };
  const documents = new Map([["index", page("drawn at the start")]]);
  const counted = async () => {
    clock.draws += 1;
    return await draw();
  };
  const { log, errors } = recordLog();
  const named = async () => clock.gpus;
  const loop = startRedrawingPages({ documents, draw: counted, named, catalogue, log, now: () => clock.at });
  onTestFinished(loop.stop);
  const moveTo = (at: string) => {
    clock.at = Date.parse(at);
    loop.trigger();
  };
  return { clock, documents, errors, loop, moveTo };
}

test("the pages are drawn again once when a version of the prices or of the terms begins, and not before", async () => {
  let version = 0;
  const { clock, documents, loop, moveTo } = setup(async () => new Map([["index", page(`version ${++version}`)]]));
  moveTo("2027-01-31T23:59:59.999Z");
  moveTo("2027-02-01T00:00:00Z");
  await expect.poll(() => documents.get("index")?.etag).toBe("version 1");
  moveTo("2027-02-28T00:00:00Z");
  moveTo("2027-03-01T00:00:00Z");
  await expect.poll(() => documents.get("index")?.etag).toBe("version 2");
  moveTo("2030-01-01T00:00:00Z");
  await loop.stop();
  expect(clock.draws).toBe(2);
});

test("when drawing fails the pages of before stay, and it is tried again", async () => {
  let isBroken = true;
  const { documents, errors, moveTo } = setup(async () => {
    if (isBroken) throw new Error("no memory");
    return new Map([["index", page("drawn again")]]);
  });
  moveTo("2027-02-01T00:00:00Z");
  await expect.poll(() => errors.length).toBeGreaterThan(0);
  expect(documents.get("index")?.etag).toBe("drawn at the start");
  isBroken = false;
  moveTo("2027-02-01T01:00:00Z");
  await expect.poll(() => documents.get("index")?.etag).toBe("drawn again");
});

test("the pages are drawn again when a host reports other GPUs", async () => {
  const { clock, documents, moveTo } = setup(async () => new Map([["index", page("with the new GPUs")]]));
  moveTo("2027-01-31T23:59:59.1Z");
  clock.gpus = [{ model: "H200", memoryGb: 141 }];
  const look = () => {
    moveTo("2027-01-31T23:59:59.2Z");
    return documents.get("index")?.etag;
  };
  await expect.poll(look).toBe("with the new GPUs");
  expect(clock.draws).toBe(1);
});
