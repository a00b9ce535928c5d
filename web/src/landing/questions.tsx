import { pageSettings } from "../api/page-settings.ts";
import { useBrand } from "../api/use-brand.ts";
import { faqOf } from "../content/faq.ts";
import classes from "./landing.module.css";

export function Questions() {
  const brand = useBrand();
  return (
    <section className={classes.section} id="questions" aria-labelledby="questions-title">
      <div className={classes.split}>
        <div>
          <h2 id="questions-title">Questions</h2>
          <p className={classes.intro}>
            Something else? Write to <a href={`mailto:${brand.email}`}>{brand.email}</a>.
          </p>
        </div>
        <div className={classes.faq}>
          {faqOf(pageSettings.retentionDays).map(({ question, answer }, index) => (
            <details key={question} open={index === 0}>
              <summary>{question}</summary>
              <p>{answer}</p>
            </details>
          ))}
        </div>
      </div>
    </section>
  );
}
