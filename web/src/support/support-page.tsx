import { supportContent } from "@berth/contract";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { supportCatalogQuery } from "../api/queries.ts";
import { LegalModal } from "./legal-modal.tsx";
import { PreparedNotice } from "./prepared-notice.tsx";
import { SupportForm } from "./support-form.tsx";
import classes from "./support-page.module.css";
import { SupportRail } from "./support-rail.tsx";
import { ticketDraftOf } from "./ticket-draft.ts";
import { useSupport } from "./use-support.ts";
import { useTicket } from "./use-ticket.ts";

/** Spec 2.12, Support. */
export function SupportPage() {
  const [params] = useSearchParams();
  const support = useSupport();
  const { busy, prepared, send } = useTicket(support);
  const catalog = useQuery(supportCatalogQuery).data ?? { status: "success", ...supportContent };
  const [document, setDocument] = useState<string>();
  return (
    <div className={classes.page}>
      <section aria-labelledby="direct-title">
        <div className={classes.head}>
          <h2 id="direct-title">Get Direct Support</h2>
          {/* Nobody is online in a chat that is not there (G308). */}
          {support.telegram !== "" && (
            <span className={classes.online} data-away={!support.online || undefined}>
              <i /> {support.online ? "Founder Online" : "Founder Away"}
            </span>
          )}
        </div>
        <p className={classes.lead}>{leadOf(support)}</p>
        <p className={classes.response}>Response Time: {support.responseTime}</p>
        {prepared && <PreparedNotice prepared={prepared} chat={support.telegram !== ""} />}
        <SupportForm
          key={params.toString()}
          support={support}
          types={catalog.issueTypes}
          first={ticketDraftOf(params)}
          busy={busy}
          onSend={send}
        />
        <h2 className={`section-title ${classes.block}`}>Quick Answers</h2>
        <dl className={classes.answers}>
          {catalog.faq.map(({ question, answer }) => (
            <div key={question}>
              <dt>{question}</dt>
              <dd>{answer}</dd>
            </div>
          ))}
        </dl>
      </section>
      <SupportRail support={support} catalog={catalog} onDocument={setDocument} />
      <LegalModal path={document} onClose={() => setDocument(undefined)} />
    </div>
  );
}

/** Where the message goes (G61, G308). */
function leadOf({
  telegram,
  prefill,
  supportName,
}: {
  telegram: string;
  prefill: boolean;
  supportName: string;
}): string {
  if (telegram === "")
    return "Your message is kept here with its support code. The answer comes by the bell and by e-mail.";
  if (!prefill) return `Telegram opens without your message: copy it first. It goes to ${supportName}.`;
  return `Your message goes to ${supportName}, who built this.`;
}
