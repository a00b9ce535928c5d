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
  const links = parts.map(({ title, pages }) => ({ title, pages: pages.map(linkOf) }));
  const viewOf = (page: DocsPage, previous?: DocsPage, next?: DocsPage): PlacedView => ({
    view: {
      ...linkOf(page),
      html: page.html,
      headings: page.sections.filter(({ id }) => id !== ""),
      parts: links,
      previous: previous && linkOf(previous),
      next: next && linkOf(next),
    },
    title: escapeHtml(page.title),
    description: escapeHtml(page.description),
  });
  return [
    viewOf(start),
    ...parts.flatMap(({ pages }) => pages.map((page, index) => viewOf(page, pages[index - 1], pages[index + 1]))),
  ];
}

function linkOf({ path, title }: DocsPage): DocsLink {
  return { path, title };
}
