import { PublicFrame } from "../landing/public-frame.tsx";
import classes from "./docs.module.css";
import { ContentsNav, NeighborsNav, PagesNav } from "./docs-nav.tsx";
import type { DocsView } from "./docs-view.ts";

export function DocsPage({ path, title, html, headings, parts, previous, next }: DocsView) {
  return (
    <PublicFrame>
      <div className={classes.page}>
        <div className={classes.side}>
          <search className={classes.search} data-docs-search hidden>
            <input type="search" aria-label="Search the documentation" placeholder="Search" autoComplete="off" />
            <p role="status" className={classes.count} />
            <ul className={classes.found} />
          </search>
          <PagesNav parts={parts} path={path} />
        </div>
        <div className={classes.middle}>
          <article>
            <h1>{title}</h1>
            <div className={classes.text} dangerouslySetInnerHTML={{ __html: html }} />
          </article>
          <NeighborsNav previous={previous} next={next} />
        </div>
        <ContentsNav headings={headings} />
      </div>
    </PublicFrame>
  );
}
