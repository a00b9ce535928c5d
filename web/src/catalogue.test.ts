import { otherCatalogue } from "@berth/contract/testing/other-catalogue";
import { afterEach, expect, test, vi } from "vitest";

const dayMs = 86_400_000;

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test("prices begin by the server's clock, not by the viewer's", async () => {
  const [first, next] = otherCatalogue.prices;
  const from = new Date(Date.now() + 2 * dayMs).toISOString().slice(0, 10);
  vi.stubEnv("PAGE_CATALOGUE", JSON.stringify({ ...otherCatalogue, prices: [first, { ...next, from }] }));
  vi.resetModules();
  const { announcedPrices, prices } = await import("./catalogue.ts");
  const { learnTime } = await import("./server-clock.ts");
  expect([prices().rows[0]?.hourlyCents, announcedPrices().length]).toEqual([113, 1]);
  learnTime(new Date(Date.now() + 3 * dayMs).toUTCString());
  expect([prices().rows[0]?.hourlyCents, announcedPrices().length]).toEqual([140, 0]);
});
