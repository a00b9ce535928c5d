import { expect, test } from "vitest";
import { unitWords } from "../../content/unit-words.ts";
import { firstDraft } from "./draft.ts";
import { changeLabel, minimumOptions, priceLines, printedLabel, totalShort } from "./price-lines.ts";

test("both currencies, the charged one first", () => {
  expect(priceLines(firstDraft)).toMatchObject({
    charged: "$0.40",
    other: "₹35",
    rate: "$0.40 per hour",
    amountMinor: 40,
  });
  expect(priceLines({ ...firstDraft, currency: "INR" })).toMatchObject({
    charged: "₹35",
    other: "$0.40",
    amountMinor: 3500,
  });
});

test("720 hours use the monthly table", () => {
  expect(priceLines({ ...firstDraft, hours: 720 })).toMatchObject({ charged: "$280.00", rate: "$280.00 per month" });
  expect(totalShort(2, 720)).toBe("$280");
  expect(totalShort(2, 6)).toBe("$2.40");
});

test("percentages are printed as given, and none is shown without a saving", () => {
  expect([1, 2, 4, 6, 8].map((gpus) => printedLabel(gpus as 1, "monthly"))).toEqual([
    "",
    "7% off",
    "13% off",
    "16% off",
    "",
  ]);
  expect(printedLabel(4, "hourly")).toBe("6.25% discount");
  expect(printedLabel(8, "hourly")).toBe("Premium, no discount");
});

test("below the provider's minimum each suggested change reaches it", () => {
  const razorpay = { USD: 50, INR: 100 };
  const both = ["USD", "INR"] as const;
  const labels = (minimumMinor: Record<string, number>, currencies: readonly string[]) =>
    minimumOptions(firstDraft, minimumMinor, currencies)?.map((change) => changeLabel(change, unitWords.gpu));
  expect(labels(razorpay, both)).toEqual(["6 hours", "4 GPUs", "Pay in INR"]);
  expect(labels(razorpay, ["USD"])).toEqual(["6 hours", "4 GPUs"]);
  expect(labels({ USD: 100, INR: 100 }, both)).toEqual(["6 hours", "6 GPUs", "Pay in INR"]);
  expect(minimumOptions({ ...firstDraft, gpus: 4 }, razorpay, both)).toBeUndefined();
  expect(minimumOptions(firstDraft, { USD: 1, INR: 1 }, both)).toBeUndefined();
});
