import classes from "./docs.module.css";
import type { DocsLink, DocsView } from "./docs-view.ts";

/** The pages of one part. Closed on a phone without JavaScript, always open beside the text. */
export function PagesNav({ pages, path }: Pick<DocsView, "pages" | "path">) {
  return (
    <details className={classes.menu} data-docs-menu>
      <summary>All pages</summary>
      <nav aria-label="Documentation" className={classes.part}>
        {pages.map((page) => (
          <a key={page.path} href={page.path} aria-current={page.path === path ? "page" : undefined}>
            {page.title}
          </a>
        ))}
      </nav>
    </details>
  );
}

export function ContentsNav({ headings }: Pick<DocsView, "headings">) {
  if (headings.length < 2) return <div className={classes.contents} />;
  return (
    <nav aria-label="On this page" className={classes.contents}>
      <p>On this page</p>
      {headings.map(({ id, heading }) => (
        <a key={id} href={`#${id}`}>
          {heading}
        </a>
      ))}
    </nav>
  );
}

export function NeighborsNav({ previous, next }: Pick<DocsView, "previous" | "next">) {
  return (
    <nav aria-label="Previous and next page" className={classes.neighbors}>
      <Neighbor label="Previous" to={previous} />
      <Neighbor label="Next" to={next} />
    </nav>
  );
}

function Neighbor({ label, to }: { label: string; to: DocsLink | undefined }) {
  if (!to) return <span />;
  return (
    <a href={to.path}>
      <span>{label}</span>
      {to.title}
    </a>
  );
}
