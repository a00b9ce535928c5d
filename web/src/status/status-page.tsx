import { measuredDays, type ProductStatus } from "@berth/contract";
import { useDocumentTitle } from "@mantine/hooks";
import { QueryClientProvider, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { statusQuery } from "../api/queries.ts";
import { createQueryClient } from "../api/query-client.ts";
import { useBrand } from "../api/use-brand.ts";
import { statusTitle, statusTexts as texts } from "../content/status-texts.ts";
import { date } from "../format.ts";
import { PublicFrame } from "../landing/public-frame.tsx";
import { Notice } from "../ui/display/notice.tsx";
import { FreeNow } from "./free-now.tsx";
import { LaunchTable } from "./launch-table.tsx";
import { StageTable } from "./stage-table.tsx";
import classes from "./status-page.module.css";

/** Separate from the signed-in frame's client. */
const client = createQueryClient();

/** The published measurements (G38), without personal data. */
export function StatusPage() {
  return (
    <QueryClientProvider client={client}>
      <Published />
    </QueryClientProvider>
  );
}

function Published() {
  useDocumentTitle(`${statusTitle} · ${useBrand().name}`);
  const { data, isError } = useQuery(statusQuery);
  return (
    <PublicFrame>
      <div className={classes.page}>
        <h1>{statusTitle}</h1>
        <p className={classes.lead}>{texts.lead(data?.days ?? measuredDays)}</p>
        {isError && (
          <div className={classes.failed}>
            <Notice tone="fail" title={texts.failed} alert>
              {texts.failedText}
            </Notice>
          </div>
        )}
        {(data || !isError) && <Sections status={data} />}
      </div>
    </PublicFrame>
  );
}

/** Has the same layout while loading. */
function Sections({ status }: { status: ProductStatus | undefined }) {
  return (
    <div aria-busy={!status}>
      <Section id="launches" title={texts.launches} intro={texts.launchesIntro}>
        <LaunchTable status={status} />
      </Section>
      <Section id="stages" title={texts.stages} intro={texts.stagesIntro}>
        <StageTable status={status} />
      </Section>
      <Section id="free" title={texts.free}>
        <FreeNow capacity={status?.capacity} />
      </Section>
      <p className={classes.since}>{status ? texts.since(date(status.since)) : "\u00a0"}</p>
    </div>
  );
}

interface SectionProps {
  readonly id: string;
  readonly title: string;
  readonly intro?: string;
  readonly children: ReactNode;
}

function Section({ id, title, intro, children }: SectionProps) {
  return (
    <section className={classes.section} aria-labelledby={id}>
      <div>
        <h2 id={id}>{title}</h2>
        {intro && <p>{intro}</p>}
      </div>
      <div>{children}</div>
    </section>
  );
}
