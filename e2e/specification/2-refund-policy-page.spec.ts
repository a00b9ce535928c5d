import { expect, test } from "../testing/test.ts";

test("every refund case is listed with its conditions and steps (G15, G16)", async ({ page }) => {
  await page.goto("/refund");
  const text = await page.getByRole("article").innerText();
  const headings = ["Automatic refunds", "Discretionary refunds", "No refunds"];
  const places = headings.map((heading) => text.lastIndexOf(`${heading}\n`));
  expect([...places].sort((a, b) => a - b)).toEqual(places);
  const [automatic = 0, discretionary = 0, none = 0] = places;
  const parts = [text.slice(automatic, discretionary), text.slice(discretionary, none), text.slice(none)];
  for (const [index, cases] of [
    [
      "You paid and no container was delivered.",
      "The hardware failed in a paid session.",
      "Maintenance took a significant part of your paid time.",
    ],
    ["You get a fresh session", "a prorated refund or an extended session"],
    ["Completed or consumed sessions.", "Early termination by you.", "Violation of the terms."],
  ].entries())
    for (const one of cases) expect(parts[index]).toContain(one);
  for (const said of [
    "4-5 business days",
    "four steps",
    "session ID, the payment reference and a description of the issue",
    "original payment method",
    "an email confirms it",
    "Fair usage",
    "Processing time",
    "Alternatives",
  ])
    expect(text).toContain(said);
  await expect(page.locator("#steps ol > li")).toHaveCount(4);
  await expect(page.getByRole("article").getByText("Need help?").getByRole("link")).toHaveAttribute(
    "href",
    "mailto:hello@berth.example",
  );
});
