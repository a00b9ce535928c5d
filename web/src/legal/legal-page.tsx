import { useDocumentTitle } from "@mantine/hooks";
import { Link, useLocation } from "react-router";
import { useBrand } from "../api/brand.ts";
import { legalLinks } from "../content/brand.ts";
import { legalTexts } from "../content/legal.ts";
import type { LegalText } from "../content/legal-text.ts";
import { notices } from "../content/notices.ts";
import { PublicFrame } from "../landing/public-frame.tsx";
import classes from "./legal.module.css";
import { LegalDocument } from "./legal-document.tsx";

export function LegalPage() {
  const { pathname } = useLocation();
  const brand = useBrand();
  const text = legalTexts[pathname];
  const title = text?.title ?? legalLinks.find(({ to }) => to === pathname)?.label ?? "Legal";
  useDocumentTitle(`${title} · ${brand.name}`);
  return (
    <PublicFrame>
      <div className={classes.page}>
        <nav aria-label="Documents" className={classes.documents}>
          {legalLinks.map(({ label, to }) => (
            <Link key={to} to={to} aria-current={to === pathname ? "page" : undefined}>
              {label}
            </Link>
          ))}
        </nav>
        <article>
          <h1>{title}</h1>
          {text ? (
            <>
              <p className={classes.updated}>In force since {text.updated}. Changes are announced 30 days ahead.</p>
              <LegalDocument text={text} />
            </>
          ) : (
            <p className={classes.updated}>{notices.notBuilt} Ask us for the text meanwhile.</p>
          )}
          <p className={classes.help}>
            Need help? Write to <a href={`mailto:${brand.email}`}>{brand.email}</a>.
          </p>
        </article>
        {text && <Contents text={text} />}
      </div>
    </PublicFrame>
  );
}

function Contents({ text }: { text: LegalText }) {
  return (
    <nav aria-label="On this page" className={classes.contents}>
      <p>On this page</p>
      {text.sections.map(({ title }, index) => (
        <a key={title} href={`#section-${index + 1}`}>
          {title}
        </a>
      ))}
    </nav>
  );
}
