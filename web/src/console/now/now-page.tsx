import { checkAgain, type Overview, readOverview } from "@berth/contract/console/overview";
import { Button, Skeleton } from "@mantine/core";
import { useIdle } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../api/call.ts";
import { Notice } from "../../ui/display/notice.tsx";
import { Stats } from "../../ui/display/stats.tsx";
import { toast } from "../../ui/toast/toast.ts";
import { callConsole } from "../frame/call-console.ts";
import { DayCurves } from "./day-curves.tsx";
import { Findings } from "./findings.tsx";
import { Latest } from "./latest.tsx";
import classes from "./now-page.module.css";
import { nowStats } from "./now-stats.ts";
import { PlacesPanel, SoldOut } from "./places-panel.tsx";
import { Waiting } from "./waiting.tsx";

const queryKey = ["now"];
const refreshMs = 15_000;
/** Without a hand on the screen nothing is asked any more, so that an unattended sign-in ends. */
const idleMs = 5 * 60_000;

/** What an operator looks at in the morning. */
export function NowPage() {
  const idle = useIdle(idleMs, { initialState: false });
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => callConsole(readOverview, { params: {}, body: {} }, signal),
    refetchInterval: ({ state }) => (idle ? false : state.data?.doctor.running ? 2_000 : refreshMs),
  });
  if (!data && !error) return <Loading />;
  return (
    <div className={classes.page}>
      {error && (
        <Notice
          tone="fail"
          title={data ? "These figures are not current" : "The figures could not be read"}
          alert
          action={<Button onClick={() => refetch()}>Try again</Button>}
        >
          {messageOf(error)}
        </Notice>
      )}
      {data && <Loaded overview={data} />}
    </div>
  );
}

function Loaded({ overview }: { readonly overview: Overview }) {
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => callConsole(checkAgain, { params: {}, body: {} }),
    onSuccess: () => client.invalidateQueries({ queryKey }),
    onError: (error) => toast.error(messageOf(error)),
  });
  const { doctor, waiting } = overview;
  return (
    <>
      <Stats stats={nowStats(overview)} />
      <SoldOut gpus={overview.gpus} queue={overview.queue} />
      <Waiting waiting={waiting} />
      <Findings doctor={doctor} busy={isPending} onAgain={() => mutate()} />
      <DayCurves day={overview.day} gpus={overview.gpus} />
      <Latest latest={overview.latest} />
      <PlacesPanel overview={overview} />
    </>
  );
}

function Loading() {
  return (
    <div className={classes.page} role="status" aria-label="Reading the figures">
      <Skeleton height={94} radius="lg" />
      <Skeleton height={120} radius="lg" />
      <Skeleton height={240} radius="lg" />
    </div>
  );
}
