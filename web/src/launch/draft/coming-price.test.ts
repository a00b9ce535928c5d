import { otherCatalogue } from "@berth/contract/testing/other-catalogue";
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

async function comingPriceIn(catalogue: object) {
  vi.stubEnv("PAGE_CATALOGUE", JSON.stringify(catalogue));
  vi.resetModules();
  return (await import("./coming-price.ts")).comingPrice;
}

test("step 3 says what a choice costs from the day of announced prices on (G152)", async () => {
  const comingPrice = await comingPriceIn(otherCatalogue);
  const keeps = "Ordered before, it keeps its price.";
  expect(comingPrice({ gpus: 1, hours: 3, currency: "USD" })).toBe(
    `From January 1, 2999 this choice costs $4.20. ${keeps}`,
  );
  expect(comingPrice({ gpus: 2, hours: 720, currency: "INR" })).toBe(
    `From January 1, 2999 this choice costs ₹1,31,225. ${keeps}`,
  );
  expect(comingPrice({ gpus: 2, hours: 3, currency: "USD" })).toBe(
    "New prices begin on January 1, 2999. This choice costs the same then.",
  );
  const [now, then] = otherCatalogue.prices;
  const fewer = await comingPriceIn({ ...otherCatalogue, prices: [now, { ...then, hours: [1] }] });
  expect(fewer({ gpus: 2, hours: 3, currency: "USD" })).toBe(
    `From January 1, 2999 this choice is no longer offered. ${keeps}`,
  );
});

test("without announced prices nothing is said", async () => {
  const comingPrice = await comingPriceIn({ ...otherCatalogue, prices: otherCatalogue.prices.slice(0, 1) });
  expect(comingPrice({ gpus: 2, hours: 3, currency: "USD" })).toBeUndefined();
});
