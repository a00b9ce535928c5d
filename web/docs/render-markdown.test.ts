import { expect, test } from "vitest";
import { renderMarkdown } from "./render-markdown.ts";
import { slugOf } from "./slug-of.ts";

const render = (source: string, resolve: (href: string) => string | undefined = (href) => href) =>
  renderMarkdown(`# Title\n\n${source}`, resolve);

test("the title leaves the text, the first paragraph describes the page, and sections are parted at headings", () => {
  const page = render("What it is.\nAll of it.\n\n## One `two`\n\nText.\n\n### Inner\n\n- item\n\n## One two\n\nMore.");
  expect([page.title, page.description]).toEqual(["Title", "What it is. All of it."]);
  expect(page.html).not.toContain("Title");
  expect(page.sections).toEqual([
    { id: "", heading: "", text: "What it is. All of it.", words: "" },
    { id: "one-two", heading: "One two", text: expect.stringMatching(/Text\. +Inner +item/), words: "" },
    { id: "one-two-1", heading: "One two", text: "More.", words: "" },
  ]);
  expect(page.html).toContain('<h2 id="one-two"><a href="#one-two">One <code>two</code></a></h2>');
});

test("HTML is text, and a script is harmless", () => {
  const { html } = render('A <b>tag</b> and <script>alert("1")</script>, [a link](javascript:alert(1)).');
  expect(html).not.toMatch(/<b>|<script|href/);
});

test("the product's name and marked values become placeholders, except in code; other comments vanish", () => {
  const { html } = render(
    "Berth keeps files 30<!-- RETENTION_DAYS --> days in `Berth`, with 1, 2 or 4<!-- GPU_COUNTS --> GPUs. <!-- a note -->",
  );
  expect(html).toBe(
    "<p>{{BRAND_NAME}} keeps files {{RETENTION_DAYS}} days in <code>Berth</code>, with {{GPU_COUNTS}} GPUs.</p>\n",
  );
});

test("links are resolved; one that leads nowhere keeps its text; one that stands alone is marked", () => {
  const resolve = (href: string) => (href === "use/paying.md" ? "/docs/use/paying" : undefined);
  const { html } = render(
    "See [paying](use/paying.md) or [the code](../../code.ts).\n\n- [Paying](use/paying.md)",
    resolve,
  );
  expect(html).toContain('See <a href="/docs/use/paying">paying</a> or the code.');
  expect(html).toContain('<li><a href="/docs/use/paying" data-alone="">Paying</a></li>');
});

test("a table scrolls in a box of its own, and an empty corner is no heading", () => {
  expect(render("| | a |\n|---|---|\n| b | c |").html).not.toContain("<th></th>");
  expect(render("| a |\n|---|\n| b |").html).toMatch(/^<div data-scroll tabindex="0"><table>.*<\/table><\/div>/s);
});

test("an option stays on one line, and code is escaped", () => {
  expect(render("`doctor --json <FILE>`").html).toBe("<p><code>doctor <span>--json</span> &lt;FILE&gt;</code></p>\n");
});

test("slugs are those of a code host", () => {
  expect(slugOf("What `doctor` looks at, and how?")).toBe("what-doctor-looks-at-and-how");
});

test("words for the search belong to their section, and nobody sees them (G344)", () => {
  const page = render("Lead.\n\n## SSH\n\n<!-- search: putty,\nscp -->\n\nNot yet.");
  expect(page.sections[1]).toMatchObject({ heading: "SSH", text: "Not yet.", words: "putty,\nscp" });
  expect(page.html).not.toMatch(/putty|search/);
});
