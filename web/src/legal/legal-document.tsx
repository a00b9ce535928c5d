import type { LegalSection, LegalText } from "../content/legal-text.ts";
import classes from "./legal.module.css";

export function LegalDocument({ text }: { text: LegalText }) {
  return (
    <div className={classes.document}>
      <p className={classes.summary}>{text.summary}</p>
      {text.sections.map((section, index) => (
        <Section key={section.title} section={section} id={`section-${index + 1}`} />
      ))}
    </div>
  );
}

function Section({ section: { title, text, items, ordered }, id }: { section: LegalSection; id: string }) {
  const List = ordered ? "ol" : "ul";
  return (
    <section id={id}>
      <h2>{title}</h2>
      {text && <p>{text}</p>}
      {items && (
        <List>
          {items.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </List>
      )}
    </section>
  );
}
