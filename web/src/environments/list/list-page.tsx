import { plural } from "@berth/contract";
import { Button } from "@mantine/core";
import { Plus } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { Link, Outlet, useNavigate, useSearchParams } from "react-router";
import { useConfig } from "../../api/product-config.ts";
import { useSession } from "../../api/session.ts";
import { Notice } from "../../ui/display/notice.tsx";
import { PasswordHint } from "../actions/password-hint.tsx";
import { TerminateDialog } from "../actions/terminate-dialog.tsx";
import { type Actions, useActions } from "../actions/use-actions.ts";
import { FormerNames } from "../kept-files/former-names.tsx";
import { KeptFiles } from "../kept-files/kept-files.tsx";
import type { Environment } from "../lifecycle/environment.ts";
import { QueueNotice } from "../queue/queue-notice.tsx";
import { EmptyList } from "./empty-list.tsx";
import { filterEnvironments, sortEnvironments } from "./filter-environments.ts";
import classes from "./list-page.module.css";
import { ListSkeleton } from "./list-skeleton.tsx";
import { ListTable } from "./list-table.tsx";
import { ListToolbar } from "./list-toolbar.tsx";
import { firstView, type ListView, readView, writeView } from "./list-view.ts";
import { ReadyCard, useArrival } from "./ready-card.tsx";
import { type Environments, useEnvironments } from "./use-environments.ts";
import { type Selection, useSelection } from "./use-selection.ts";

/** Spec 2.8, Environments. The guard has checked the session. */
export function ListPage() {
  const userId = useSession()?.userId;
  return userId === undefined ? null : <Loaded userId={userId} />;
}

function Loaded({ userId }: { readonly userId: string }) {
  const listed = useEnvironments(userId);
  const { environments, failed, refetch, fetching } = listed;
  const [arrival, dismiss] = useArrival();
  const navigate = useNavigate();
  if (environments === undefined)
    return failed ? <EmptyList reason="failed" onTry={refetch} busy={fetching} /> : <ListSkeleton />;
  return (
    <div className={classes.page}>
      {failed && <Stale listed={listed} />}
      <QueueNotice userId={userId} />
      {arrival && (
        <ReadyCard
          arrival={arrival}
          environment={environments.find(({ id, subdomain }) =>
            arrival.environment_id ? id === arrival.environment_id : subdomain === arrival.subdomain,
          )}
          onClose={dismiss}
        />
      )}
      <Listing userId={userId} environments={environments} onOpen={navigate} />
      {/* The extension dialog (routes.tsx). */}
      <Outlet />
      <KeptFiles userId={userId} onOpen={navigate} />
      <FormerNames userId={userId} onOpen={navigate} />
    </div>
  );
}

/** Keeps the old list after a failed refetch, and polling stops. */
function Stale({ listed }: { readonly listed: Environments }) {
  return (
    <Notice
      tone="hold"
      title="Server failure, please go to Dashboard and refresh"
      alert
      action={
        <Button size="xs" variant="default" onClick={listed.refetch} loading={listed.fetching}>
          Try Again
        </Button>
      }
    >
      The list below may be out of date. What runs goes on running.
    </Notice>
  );
}

interface ListingProps {
  readonly userId: string;
  readonly environments: readonly Environment[];
  readonly onOpen: (path: string) => void;
}

function Listing({ userId, environments, onOpen }: ListingProps) {
  const [view, change] = useView();
  const [clears, setClears] = useState(0);
  const clear = () => {
    change({ ...firstView, sort: view.sort });
    setClears((before) => before + 1);
  };
  const actions = useActions(userId);
  const [terminating, setTerminating] = useState<Environment>();
  const sorted = useMemo(() => sortEnvironments(environments, view.sort), [environments, view.sort]);
  const shown = useMemo(() => filterEnvironments(sorted, view), [sorted, view]);
  const selection = useSelection(shown);
  return (
    <>
      <ListToolbar environments={environments} view={view} onView={change} onClear={clear} clears={clears} />
      <div className={classes.head}>
        <p role="status">
          Showing {shown.length} of {environments.length} environments
        </p>
        {selection.chosen.length > 0 ? (
          <SelectionBar selection={selection} onStop={actions.stopAll} />
        ) : (
          <HeadButtons environments={environments} />
        )}
      </div>
      <ListTable
        environments={sorted}
        shown={shown}
        sort={view.sort}
        onSort={(sort) => change({ sort })}
        {...{ selection, actions, onOpen }}
        onTerminate={setTerminating}
      />
      {environments.length === 0 && <EmptyList reason="empty" />}
      {environments.length > 0 && shown.length === 0 && (
        <EmptyList reason="none" view={view} count={environments.length} onClear={clear} />
      )}
      <Terminating environment={terminating} onClose={() => setTerminating(undefined)} run={actions.run} />
    </>
  );
}

function HeadButtons({ environments }: Pick<ListingProps, "environments">) {
  return (
    <>
      <PasswordHint environments={environments} />
      {environments.length > 0 && (
        <Button
          component={Link}
          to="/environments/create"
          leftSection={<Plus size={15} />}
          aria-label="Create New Environment"
        >
          Create<span className={classes.wide}>&nbsp;New Environment</span>
        </Button>
      )}
    </>
  );
}

interface BarProps {
  readonly selection: Selection;
  readonly onStop: (environments: readonly Environment[]) => void;
}

/** In place of the other buttons while rows are selected. */
function SelectionBar({ selection: { chosen, selectAll }, onStop }: BarProps) {
  const stop = () => {
    onStop(chosen);
    selectAll(false);
  };
  return (
    <>
      <span className={classes.hint}>Stop: memory goes, files stay.</span>
      <Button variant="subtle" onClick={() => selectAll(false)}>
        Clear selection
      </Button>
      <Button variant="default" onClick={stop}>
        Stop {plural(chosen.length, "environment")}
      </Button>
    </>
  );
}

interface TerminatingProps {
  readonly environment: Environment | undefined;
  readonly onClose: () => void;
  readonly run: Actions["run"];
}

function Terminating({ environment, onClose, run }: TerminatingProps) {
  const retentionDays = useConfig()?.retentionDays;
  const end = (confirmed: Environment) => {
    onClose();
    run(confirmed, "terminate");
  };
  return <TerminateDialog environment={environment} retentionDays={retentionDays} onClose={onClose} onConfirm={end} />;
}

/** Filters, search and sort are in the URL, without a history entry for each keystroke (CONTRIBUTING 10). */
function useView(): readonly [ListView, (part: Partial<ListView>) => void] {
  const [params, setParams] = useSearchParams();
  const view = useMemo(() => readView(params), [params]);
  const change = useCallback(
    (part: Partial<ListView>) => {
      // Reads the URL, because two changes may precede a render.
      const now = readView(new URLSearchParams(window.location.search));
      // Renders synchronously, not in time slices.
      setParams(writeView({ ...now, ...part }), { replace: true, preventScrollReset: true, flushSync: true });
    },
    [setParams],
  );
  return [view, change];
}
