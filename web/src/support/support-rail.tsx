import type { SupportCatalog } from "@berth/contract";
import { ArrowUpRight } from "lucide-react";
import { useBrand } from "../api/brand.ts";
import { legalLinks } from "../content/brand.ts";
import { CopyText } from "../ui/copy-text.tsx";
import { Facts } from "../ui/facts.tsx";
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
          { label: "Response Time", value: support.responseTime },
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
            <li key={tip}>{tip}</li>
          ))}
        </ol>
      </div>
      <div>
        <h2 className="section-title">Email</h2>
        <p className={classes.small}>
          Slower, for formal inquiries:{" "}
          <a className="link" href={`mailto:${email}?subject=${encodeURIComponent(`Support ${support.code}`)}`}>
            {email}
          </a>
        </p>
      </div>
      <div>
        <h2 className="section-title">Documents</h2>
        <ul className={classes.links}>
          {legalLinks.slice(0, 4).map(({ label, to }) => (
            <li key={to}>
              <button type="button" aria-haspopup="dialog" onClick={() => onDocument(to)}>
                {label}
              </button>
            </li>
          ))}
        </ul>
      </div>
    </aside>
  );
}
