import { defaultCatalogue } from "@berth/contract";
import { oldWordsIn, otherCatalogue } from "@berth/contract/testing/other-catalogue";
import { afterEach, expect, test, vi } from "vitest";

const paths = [
  "/",
  "/terms-condition",
  "/refund",
  "/privacy-policy",
  "/legal-compliance",
  "/delivery-policy",
  "/status",
];

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

/** Draws the pages as a server with this catalogue does. */
async function drawn(catalogue: typeof defaultCatalogue) {
  vi.stubEnv("PAGE_CATALOGUE", JSON.stringify(catalogue));
  vi.resetModules();
  const { drawPages } = await import("./draw-pages.ts");
  return await drawPages(paths);
}

test("every public page follows another catalogue: nothing of the built-in one stays (G125-G128)", async () => {
  const { description, markup } = await drawn(otherCatalogue);
  expect(description).toMatch(
    /^Rent a dedicated L40S or A100 with Plain Lab or Vision\. Prepaid from \$1\.13 per hour/,
  );
  for (const word of ["L40S or A100", "Plain Lab or Vision", "$1.13", "€0.91", "₹90.50", "$1,301.50", "96 to 160 GB"])
    expect(markup["/"]).toContain(word);
  const terms = markup["/terms-condition"]?.replace(/<[^>]+>/g, "");
  for (const text of [
    "EUR is the USD price times 0.91, rounded to two decimals.",
    "It has 1, 2 or 8 GPUs",
    "Last changed February 1, 2026, version 1.1. Changes are announced 30 days ahead.",
    "Version 1.2, from January 1, 2999: Sessions end after 100 hours.",
    "Version 1.1, from February 1, 2026: Sharing was made clearer.",
    "From January 1, 2999 the prices are: 1 GPU $1.40 an hour or $810 a month; 2 GPUs $2.17 an hour or $1,450 a month;",
    "EUR at €0.95 for a dollar; INR at ₹90.50 for a dollar. What you order before that day keeps its price.",
  ])
    expect(terms).toContain(text);
  for (const path of paths) expect(oldWordsIn(markup[path] ?? "no page"), path).toEqual([]);
});

test("the words that are looked for stand in the pages of the built-in catalogue", async () => {
  const { description, markup } = await drawn(defaultCatalogue);
  const found = new Set(oldWordsIn(Object.values(markup).join("\n") + description));
  for (const word of ["RTX", "PyTorch", "TensorFlow", "88.22", "$0.20", "$280", "7% off", "12.5%"])
    expect(found, word).toContain(word);
});
