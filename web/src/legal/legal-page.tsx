import { useDocumentTitle } from "@mantine/hooks";
import { Link, useLocation } from "react-router";
import { useBrand } from "../api/use-brand.ts";
import { legalLinks } from "../content/brand.ts";
import type { LegalText } from "../content/legal-text.ts";
import { legalTexts } from "../content/legal-texts.ts";
import { longDay, plainPath } from "../format.ts";
import { PublicFrame } from "../landing/public-frame.tsx";
import classes from "./legal.module.css";
import { LegalDocument } from "./legal-document.tsx";

export function LegalPage() {
  const path = plainPath(useLocation().pathname.toLowerCase());
  const brand = useBrand();
  const text = legalTexts[path];
  if (!text) throw new Error(`no legal text for ${path}`);
  useDocumentTitle(`${text.title} · ${brand.name}`);
  return (
    <PublicFrame>
      <div className={classes.page}>
        <Documents path={path} />
        <article>
          <h1>{text.title}</h1>
          <p className={classes.updated}>
            Last changed <time dateTime={text.updated}>{longDay(text.updated)}</time>, version {text.version}. Changes
            are announced 30 days ahead.
          </p>
          {(text.coming ?? []).map((change) => (
            <p key={change} className={classes.coming}>
              {change}
            </p>
          ))}
          <LegalDocument text={text} />
          <p className={classes.help}>
            Need help? Write to <a href={`mailto:${brand.email}`}>{brand.email}</a>.
          </p>
        </article>
        <Contents text={text} />
      </div>
    </PublicFrame>
  );
}

function Documents({ path }: { path: string }) {
  return (
    <nav aria-label="Documents" className={classes.documents}>
      {legalLinks.map(({ label, to }) => (
        <Link key={to} to={to} aria-current={to === path ? "page" : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  );
}

function Contents({ text }: { text: LegalText }) {
  return (
    <nav aria-label="On this page" className={classes.contents}>
      <p>On this page</p>
      {text.sections.map(({ id, title }) => (
        <a key={id} href={`#${id}`}>
          {title}
        </a>
      ))}
    </nav>
  );
}
