import { expect, test } from "vitest";
import { legalLinks } from "../content/brand.ts";
import type { LegalSection } from "../content/legal-text.ts";
import { legalTexts } from "../content/legal-texts.ts";
import { textParts } from "./text-parts.ts";

const settings = { name: "Acme <GPU>", email: "a@acme.example", retentionDays: "45", environmentHost: "env.example" };

test.each([
  ["Plain words.", [{ text: "Plain words." }]],
  ["", []],
  ["{name} keeps it {retentionDays} days", [{ text: "Acme <GPU> keeps it 45 days" }]],
  [
    "Write to {email}.",
    [{ text: "Write to " }, { text: "a@acme.example", to: "mailto:a@acme.example" }, { text: "." }],
  ],
  [
    "[Terms of {name}](/terms-condition#law):",
    [{ text: "Terms of Acme <GPU>", to: "/terms-condition#law" }, { text: ":" }],
  ],
  ["[label](javascript:alert(1))", [{ text: "[label](javascript:alert(1))" }]],
])("%s", (text, parts) => {
  expect(textParts(text, settings)).toEqual(parts);
});

test("every legal route has its document, and every document can be linked", () => {
  expect(Object.keys(legalTexts).sort()).toEqual(legalLinks.map(({ to }) => to).sort());
  for (const [path, { title, description, updated, version, sections }] of Object.entries(legalTexts)) {
    expect(title, path).toMatch(/\w/);
    expect(version, path).toMatch(/^\d+\.\d+$/);
    expect(description.length, `${path} description`).toBeLessThanOrEqual(160);
    expect(new Date(updated).toISOString().slice(0, 10)).toBe(updated);
    expect(new Set(sections.map(({ id }) => id)).size, `${path} ids`).toBe(sections.length);
  }
});

test("every link of a document resolves, and no placeholder is left", () => {
  for (const [path, { summary, sections }] of Object.entries(legalTexts)) {
    for (const text of [summary, ...sections.flatMap(textsOf)]) {
      for (const part of textParts(text, settings)) {
        expect(part.text, path).not.toMatch(/[{}[\]]/);
        if (part.to === undefined || part.to.startsWith("mailto:")) continue;
        const [target = "", id] = part.to.split("#");
        expect(legalTexts[target], part.to).toBeDefined();
        if (id) expect(legalTexts[target]?.sections.map((section) => section.id)).toContain(id);
      }
    }
  }
});

function textsOf({ text = [], items = [], after = "" }: LegalSection): string[] {
  return [...text, ...items.flatMap((item) => [item.term ?? "", item.text]), after];
}
