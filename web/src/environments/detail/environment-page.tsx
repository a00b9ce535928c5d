import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Outlet, useParams } from "react-router";
import { messageOf } from "../../api/call.ts";
import { useConfig } from "../../api/product-config.ts";
import { environmentQuery } from "../../api/queries.ts";
import { useSession } from "../../api/session.ts";
import { commonTexts } from "../../content/common-texts.ts";
import { DetailPage, NotLoaded } from "../../ui/display/detail-page.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { FreshStartDialog } from "../actions/fresh-start-dialog.tsx";
import { TerminateDialog } from "../actions/terminate-dialog.tsx";
import { useActions } from "../actions/use-actions.ts";
import { type Detail, detailed } from "../lifecycle/environment.ts";
import { EnvironmentHead } from "./environment-head.tsx";
import { IdleWarning } from "./environment-idle.tsx";
import { EnvironmentLaunch } from "./environment-launch.tsx";
import { EnvironmentSkeleton } from "./environment-skeleton.tsx";
import { EnvironmentTabs } from "./environment-tabs.tsx";
import { LossNotice } from "./loss-notice.tsx";
import { StopNotice } from "./stop-notice.tsx";

const back = { to: "/environments", label: "Environments" };

/** Everything about one environment (G32, G33, G37, G70, G86), updated live. */
export function EnvironmentPage() {
  const { id = "" } = useParams();
  const userId = useSession()?.userId;
  const { data, error, refetch } = useQuery(environmentQuery(id));
  const retry = <Button onClick={() => void refetch()}>{commonTexts.tryAgain}</Button>;
  if (!data || userId === undefined)
    return (
      <NotLoaded
        back={back}
        error={error}
        retry={retry}
        loading={<EnvironmentSkeleton />}
        what="environment"
        where="Every one of yours stands in the list."
        failed={(why) => `${messageOf(why).replace(/\.$/, "")}. What runs goes on running.`}
      />
    );
  return (
    <DetailPage back={back}>
      {error && (
        <Notice tone="fail" title="This environment could not be read again" action={retry}>
          What stands here is from before. What runs goes on running.
        </Notice>
      )}
      <Read key={data.id} environment={detailed(data)} userId={userId} />
      {/* The extension dialog (routes.tsx). */}
      <Outlet />
    </DetailPage>
  );
}

function Read({ environment, userId }: { readonly environment: Detail; readonly userId: string }) {
  const actions = useActions(userId);
  const [terminating, setTerminating] = useState<Detail>();
  const [startingFresh, setStartingFresh] = useState<Detail>();
  const retentionDays = useConfig()?.retentionDays;
  return (
    <>
      <LossNotice
        environment={environment}
        busy={actions.busy.has(environment.id)}
        onEnd={() => setTerminating(environment)}
        onStartFresh={() => setStartingFresh(environment)}
      />
      <IdleWarning environment={environment} />
      <StopNotice
        environment={environment}
        busy={actions.busy.has(environment.id)}
        onStart={() => actions.run(environment, "start_without_settings")}
      />
      <EnvironmentHead
        environment={environment}
        busy={actions.busy.get(environment.id)}
        onAction={actions.run}
        onTerminate={() => setTerminating(environment)}
      />
      {environment.status === "pending" && <EnvironmentLaunch environment={environment} />}
      <EnvironmentTabs environment={environment} />
      <FreshStartDialog
        environment={startingFresh}
        retentionDays={retentionDays}
        onClose={() => setStartingFresh(undefined)}
        onConfirm={(confirmed) => {
          setStartingFresh(undefined);
          actions.run(confirmed, "start_fresh");
        }}
      />
      <TerminateDialog
        environment={terminating}
        isRefunded={terminating?.lost_since != null}
        retentionDays={retentionDays}
        onClose={() => setTerminating(undefined)}
        onConfirm={(confirmed) => {
          setTerminating(undefined);
          actions.run(confirmed, "terminate");
        }}
      />
    </>
  );
}
