import { maxShares, plural, type ShareTerm, shareTerms } from "@berth/contract";
import { Button } from "@mantine/core";
import { useState } from "react";
import { dateTime, duration } from "../../../format.ts";
import { CopyText } from "../../../ui/controls/copy-text.tsx";
import { PlainSegments } from "../../../ui/controls/plain-segments.tsx";
import { Notice } from "../../../ui/display/notice.tsx";
import { Table } from "../../../ui/display/table.tsx";
import { useNow } from "../../../ui/display/use-now.ts";
import type { Detail } from "../../lifecycle/environment.ts";
import table from "../detail-table.module.css";
import section from "../environment-section.module.css";
import classes from "./environment-shares.module.css";
import { useShares } from "./use-shares.ts";

const terms: Readonly<Record<ShareTerm, string>> = { "1h": "1 hour", "24h": "24 hours", "7d": "7 days" };

/** Share links of this environment (G50). */
export function EnvironmentShares({ environment }: { readonly environment: Detail }) {
  const { id, name, shares } = environment;
  const [term, setTerm] = useState<ShareTerm>("24h");
  const { made, busy, make, revoke } = useShares(id);
  const full = shares.length >= maxShares;
  return (
    <section aria-labelledby="shares-title">
      <h2 id="shares-title" className="section-title">
        Share
      </h2>
      <p className={section.lead}>
        Whoever has a link can run code in {name} and read and change its files, until it ends or you revoke it. Nothing
        else of your account is theirs.
      </p>
      <div className={section.controls}>
        <PlainSegments
          label="The link works for"
          name="share-term"
          value={terms[term]}
          options={shareTerms.map((each) => terms[each])}
          onChange={(label) => setTerm(shareTerms.find((each) => terms[each] === label) ?? "24h")}
        />
        <Button variant="default" disabled={busy !== undefined || full} onClick={() => make(term)}>
          {busy === "make" ? "Making..." : "Make a link"}
        </Button>
        {full && <p className={section.lead}>{maxShares} links are open. Revoke one to make another.</p>}
      </div>
      {made && shares.some((share) => share.id === made.id) && (
        <div className={classes.made} role="status">
          <Notice tone="live" title="Copy the link now: it is shown this once">
            <CopyText value={made.url} label="share link" />
          </Notice>
        </div>
      )}
      {shares.length > 0 && <Links shares={shares} busy={busy} onRevoke={revoke} />}
    </section>
  );
}

interface LinksProps {
  readonly shares: Detail["shares"];
  /** "make", or the id of the link that is being revoked. */
  readonly busy: string | undefined;
  readonly onRevoke: (id: string) => void;
}

function Links({ shares, busy, onRevoke }: LinksProps) {
  const now = useNow();
  return (
    <Table columns={["Made", "Works for", "Views", "Action"]} className={`${table.table} ${classes.table}`}>
      {shares.map(({ id, created_at, expires_at, views, last_viewed_at }) => (
        <tr key={id}>
          <th scope="row">{dateTime(created_at, now)}</th>
          <td>{duration(Math.max(0, Date.parse(expires_at) - now) / 1000)} more</td>
          <td>
            {plural(views, "view")}
            {last_viewed_at !== null && <small>last {dateTime(last_viewed_at, now)}</small>}
          </td>
          <td>
            <Button
              size="xs"
              variant="subtle"
              disabled={busy !== undefined}
              aria-label={`Revoke the link made ${dateTime(created_at, now)}`}
              onClick={() => onRevoke(id)}
            >
              {busy === id ? "Revoking..." : "Revoke"}
            </Button>
          </td>
        </tr>
      ))}
    </Table>
  );
}
