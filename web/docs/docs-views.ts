import MarkdownIt from "markdown-it";
import type { DocsLink, DocsView } from "../src/docs/docs-view.ts";
import type { Docs, DocsPage } from "./read-docs.ts";

interface PlacedView {
  readonly view: DocsView;
  /** For the head of the document: escaped. */
  readonly title: string;
  readonly description: string;
}

const { escapeHtml } = new MarkdownIt().utils;

/** Every page with its place among the others. */
export function docsViews({ start, parts }: Docs): readonly PlacedView[] {
  const tabs = parts.flatMap(({ pages: [first] }) => (first ? [linkOf(first)] : []));
  const viewOf = (page: DocsPage, part: readonly DocsPage[], at: number): PlacedView => ({
    view: {
      ...linkOf(page),
      html: page.html,
      headings: page.sections.filter(({ id }) => id !== ""),
      tabs,
      pages: part.map(linkOf),
      previous: neighborOf(part, at - 1),
      next: neighborOf(part, at + 1),
    },
    title: escapeHtml(page.title),
    description: escapeHtml(page.description),
  });
  return [
    viewOf(start, parts[0]?.pages ?? [], -1),
    ...parts.flatMap(({ pages }) => pages.map((page, index) => viewOf(page, pages, index))),
  ];
}

function neighborOf(pages: readonly DocsPage[], at: number): DocsLink | undefined {
  const page = pages[at];
  return page && linkOf(page);
}

function linkOf({ path, title }: DocsPage): DocsLink {
  return { path, title };
}
