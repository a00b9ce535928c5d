import type { SupportCatalog } from "@berth/contract";
import { ArrowUpRight } from "lucide-react";
import { useBrand } from "../api/use-brand.ts";
import { legalLinks } from "../content/brand.ts";
import { legalTexts } from "../content/legal-texts.ts";
import { date } from "../format.ts";
import { CopyText } from "../ui/controls/copy-text.tsx";
import { Facts } from "../ui/display/facts.tsx";
import { openChat } from "./open-chat.ts";
import classes from "./support-page.module.css";
import type { Support } from "./use-support.ts";

interface Props {
  readonly support: Support;
  readonly catalog: SupportCatalog;
  readonly onDocument: (path: string) => void;
}

export function SupportRail({ support, catalog, onDocument }: Props) {
  const { email } = useBrand();
  return (
    <aside className={classes.rail} aria-label="Support details">
      <Facts
        facts={[
          { label: "Support code", value: <CopyText value={support.code} label="support code" /> },
          { label: "Your email", value: support.email || "Not available" },
        ]}
      />
      <div>
        <h2 className="section-title">Quick help</h2>
        <ul className={classes.links}>
          {catalog.quickTopics.map(({ label }) => (
            <li key={label}>
              <button type="button" onClick={() => openChat(support.link(support.message(label)))}>
                {label} <ArrowUpRight size={14} strokeWidth={1.6} aria-hidden="true" />
              </button>
            </li>
          ))}
        </ul>
      </div>
      <div>
        <h2 className="section-title">Pro Tips</h2>
        <ol className={classes.tips}>
          {catalog.tips.map((tip) => (
            <li key={tip}>
              <Tip code={support.code}>{tip}</Tip>
            </li>
          ))}
        </ol>
      </div>
      <section className={`panel ${classes.card}`} aria-labelledby="email-support">
        <h2 id="email-support" className="section-title">
          Email support
        </h2>
        <p>Slower, for formal inquiries.</p>
        <a href={`mailto:${email}?subject=${encodeURIComponent(`Support ${support.code}`)}`}>{email}</a>
      </section>
      <div>
        <h2 className="section-title">Documents</h2>
        <ul className={classes.cards}>
          {legalLinks.slice(0, 4).map(({ label, to }) => (
            <li key={to}>
              <button type="button" className="panel" aria-haspopup="dialog" onClick={() => onDocument(to)}>
                {label}
                <small>{updatedOf(to)}</small>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </aside>
  );
}

/** A tip; one that mentions the support code shows the code too. */
function Tip({ code, children }: { readonly code: string; readonly children: string }) {
  const phrase = "support code";
  const at = children.indexOf(phrase);
  if (at < 0) return children;
  const end = at + phrase.length;
  return (
    <span>
      {children.slice(0, end)} <span className="mono">{code}</span>
      {children.slice(end)}
    </span>
  );
}

/** The date of the last change. */
function updatedOf(path: string): string {
  const updated = legalTexts[path]?.updated;
  return updated === undefined ? "" : date(`${updated}T12:00:00Z`);
}
