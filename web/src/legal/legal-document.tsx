import { Link } from "react-router";
import { pageSettings } from "../api/page-settings.ts";
import { useBrand } from "../api/use-brand.ts";
import type { LegalSection, LegalText } from "../content/legal-text.ts";
import classes from "./legal.module.css";
import { textParts } from "./text-parts.ts";

/** The text of a document without its title. */
export function LegalDocument({ text }: { text: LegalText }) {
  return (
    <div className={classes.document}>
      <p className={classes.summary}>
        <Inline>{text.summary}</Inline>
      </p>
      {text.sections.map((section) => (
        <Section key={section.id} section={section} />
      ))}
    </div>
  );
}

function Section({ section: { id, title, text = [], items, ordered, after } }: { section: LegalSection }) {
  const List = ordered ? "ol" : "ul";
  return (
    <section id={id}>
      <h2>{title}</h2>
      {text.map((paragraph) => (
        <p key={paragraph}>
          <Inline>{paragraph}</Inline>
        </p>
      ))}
      {items && items.length > 0 && (
        <List>
          {items.map((item) => (
            <li key={item.text}>
              {item.term && (
                <>
                  <b>
                    <Inline>{item.term}</Inline>
                  </b>{" "}
                </>
              )}
              <Inline>{item.text}</Inline>
            </li>
          ))}
        </List>
      )}
      {after && (
        <p>
          <Inline>{after}</Inline>
        </p>
      )}
    </section>
  );
}

function Inline({ children }: { children: string }) {
  const { name, email } = useBrand();
  return textParts(children, { ...pageSettings, name, email }).map(({ text, to }, index) => {
    const key = `${index} ${text}`;
    if (to === undefined) return text;
    return to.startsWith("/") ? (
      <Link key={key} to={to}>
        {text}
      </Link>
    ) : (
      <a key={key} href={to}>
        {text}
      </a>
    );
  });
}
