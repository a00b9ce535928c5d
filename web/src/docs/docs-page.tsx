import { PublicFrame } from "../landing/public-frame.tsx";
import classes from "./docs.module.css";
import { DocsBar } from "./docs-bar.tsx";
import { ContentsNav, NeighborsNav, PagesNav } from "./docs-nav.tsx";
import text from "./docs-text.module.css";
import type { DocsView } from "./docs-view.ts";

export function DocsPage({ path, title, html, headings, tabs, pages, previous, next }: DocsView) {
  return (
    <PublicFrame bar={<DocsBar tabs={tabs} path={path} />}>
      <div className={classes.page}>
        <div className={classes.side}>
          <PagesNav pages={pages} path={path} />
        </div>
        <div className={classes.middle}>
          <article>
            <h1>{title}</h1>
            <div className={text.text} dangerouslySetInnerHTML={{ __html: html }} />
          </article>
          <NeighborsNav previous={previous} next={next} />
        </div>
        <ContentsNav headings={headings} />
      </div>
    </PublicFrame>
  );
}
