import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { Link } from "react-router";
import { profileQuery } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { commonTexts } from "../content/common-texts.ts";
import { typeList } from "../content/environment-types.ts";
import type { Environment } from "../environments/lifecycle/environment.ts";
import { QueueNotice } from "../environments/queue/queue-notice.tsx";
import { UnpaidOrders } from "../environments/unpaid/unpaid-orders.tsx";
import { EmptyState, FreeSlots } from "../ui/display/empty-state.tsx";
import { Notice } from "../ui/display/notice.tsx";
import { dashboardFigures, newest, recentCount, summaryOf, type Usage } from "./dashboard-figures.ts";
import classes from "./dashboard-page.module.css";
import { DashboardSkeleton } from "./dashboard-skeleton.tsx";
import { DashboardStats } from "./dashboard-stats.tsx";
import { RecentEnvironments } from "./recent-environments.tsx";
import { TestCardNotice } from "./test-card-notice.tsx";
import { TrainPanel } from "./train-panel.tsx";
import { UsageOverview } from "./usage-overview.tsx";

const failed = "Error fetching user data, please refresh";

export function DashboardPage() {
  const userId = useSession()?.userId ?? "";
  const profile = useQuery(profileQuery(userId));
  const retry = (
    <Button variant="default" loading={profile.isFetching} onClick={() => void profile.refetch()}>
      {commonTexts.tryAgain}
    </Button>
  );
  if (!profile.data) {
    if (!profile.error) return <DashboardSkeleton />;
    return (
      <EmptyState title={failed} picture={<FreeSlots failed />} action={retry}>
        Your environments keep running; only this page could not be read.
      </EmptyState>
    );
  }
  const all = newest(profile.data.user_data.containers);
  const figures = dashboardFigures(all);
  const name = profile.data.profile.name.trim() || "User";
  return (
    <div className={classes.page}>
      {profile.error && (
        <Notice tone="fail" title={failed} action={retry}>
          What stands here is from before.
        </Notice>
      )}
      <div className={classes.welcome}>
        <div>
          <h2>
            {all.length === 0 ? "Welcome" : "Welcome back"}, {name}
          </h2>
          <p>{summaryOf(figures)}</p>
        </div>
        <Button component={Link} to="/environments/create" leftSection={<Plus size={15} aria-hidden="true" />}>
          Create New Environment
        </Button>
      </div>
      <QueueNotice userId={userId} />
      <UnpaidOrders userId={userId} />
      <TestCardNotice />
      <DashboardStats figures={figures} runHours={profile.data.usage?.run_hours} />
      <Columns all={all} usage={profile.data.usage} />
    </div>
  );
}

function Columns({ all, usage }: { all: readonly Environment[]; usage: Usage }) {
  return (
    <div className={classes.columns}>
      <section aria-labelledby="recent-title">
        <div className={classes.sectionHead}>
          <h2 id="recent-title" className="section-title">
            Recent Environments
          </h2>
          {all.length > 0 && (
            <Link to="/environments" className="link target">
              All {all.length}
            </Link>
          )}
        </div>
        {all.length === 0 ? <NoEnvironments /> : <RecentEnvironments environments={all.slice(0, recentCount)} />}
      </section>
      <div className={classes.rail}>
        <UsageOverview all={all} usage={usage} />
        <TrainPanel />
      </div>
    </div>
  );
}

function NoEnvironments() {
  return (
    <EmptyState
      title="No environments yet"
      picture={<FreeSlots />}
      action={
        <Button component={Link} to="/environments/create">
          Create Your First Environment
        </Button>
      }
    >
      Pick {typeList}, choose the hours, and open it in your browser.
    </EmptyState>
  );
}
