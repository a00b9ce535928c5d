import {
  type Action,
  actOnContainer,
  cancelLaunch,
  plural,
  type Status,
  startEnvironment,
  startFresh,
  terminate,
} from "@berth/contract";
import { type QueryClient, useMutation, useMutationState, useQueryClient } from "@tanstack/react-query";
import { useCallback, useId, useMemo } from "react";
import { ApiError } from "../../api/api-error.ts";
import { call } from "../../api/call.ts";
import { keys, profileQuery } from "../../api/queries.ts";
import { toast } from "../../ui/toast/toast.ts";
import { type Environment, environmentsOf, isSettled } from "../lifecycle/environment.ts";
import { actionTexts, doneText, failedText } from "./action-texts.ts";

/** Delay of the refetch after an action (G30). */
const reloadAfterMs = 1_500;
/** Interval of refetches while the row is unchanged. */
const reloads = 10;

export type RowAction = Action | "cancel" | "terminate" | "start_without_settings" | "start_fresh";

export interface Actions {
  /** The running action by environment id; only these rows are busy. */
  readonly busy: ReadonlyMap<string, RowAction>;
  readonly run: (environment: Environment, action: RowAction) => void;
  /** Stops all of them, with one toast for those that succeeded. */
  readonly stopAll: (environments: readonly Environment[]) => void;
}

interface Request {
  readonly environment: Environment;
  readonly action: RowAction;
  /** Several at once: what is left of them, and how many succeeded. */
  readonly batch?: { left: number; done: number };
}

/** Runs one action per row, with a toast; the row is busy until it shows the result. */
export function useActions(userId: string): Actions {
  const client = useQueryClient();
  const id = useId();
  const filters = useMemo(() => ({ mutationKey: ["environment-action", id], status: "pending" }) as const, [id]);
  const { mutate } = useMutation({
    mutationKey: filters.mutationKey,
    mutationFn: (request: Request) => send(userId, request),
    onSuccess: (_reply, request) => {
      if (request.batch) request.batch.done += 1;
      else toast.success(successText(request));
      finishBatch(request);
      return follow(client, userId, request);
    },
    onError: (error, request) => {
      finishBatch(request);
      const { environment, action } = request;
      const message = error instanceof ApiError ? error.message : "";
      toast.error(failedText(verbOf(action), message), {
        action: { label: "Retry", onClick: () => run(environment, action) },
      });
      // Not awaited: the row would be busy until the list is read, and ignore Retry.
      void client.invalidateQueries({ queryKey: keys.profile(userId) });
    },
  });
  const pending = useMutationState({ filters, select: ({ state }) => state.variables as Request });
  const isIdle = useCallback(
    ({ id: asked }: Environment) => {
      const running = client.getMutationCache().findAll(filters);
      return !running.some(({ state }) => (state.variables as Request).environment.id === asked);
    },
    [client, filters],
  );
  const run = useCallback(
    (environment: Environment, action: RowAction) => {
      if (isIdle(environment)) mutate({ environment, action });
    },
    [isIdle, mutate],
  );
  const stopAll = (environments: readonly Environment[]) => {
    const idle = environments.filter(isIdle);
    const batch = { left: idle.length, done: 0 };
    for (const environment of idle) mutate({ environment, action: "stop", batch });
  };
  return { busy: new Map(pending.map(({ environment, action }) => [environment.id, action])), run, stopAll };
}

/** The one toast of several stops, after the last reply. A failure has its own, with Retry. */
function finishBatch({ batch }: Request): void {
  if (!batch) return;
  batch.left -= 1;
  if (batch.left === 0 && batch.done > 0)
    toast.success(`${plural(batch.done, "environment")} ${actionTexts.stop.done}`);
}

async function send(userId: string, { environment: { id, subdomain }, action }: Request): Promise<void> {
  if (action === "cancel") await call(cancelLaunch, { params: { id }, body: {} });
  else if (action === "terminate") await call(terminate, { params: { id }, body: { confirm: subdomain } });
  else if (action === "start_fresh") await call(startFresh, { params: { id }, body: {} });
  else if (action === "start_without_settings")
    await call(startEnvironment, { params: { id }, body: { without_settings: true } });
  else await call(actOnContainer, { params: { action, container_id: id, user_id: userId }, body: {} });
}

function successText({ environment: { name }, action }: Request): string {
  const verb = verbOf(action);
  if (verb === "cancel")
    return `Launch of ${name} cancelled. The full amount goes back to the card or account that paid.`;
  return verb === "terminate" ? `Environment ${name} terminated` : doneText(verb, name);
}

/** Refetches the list until the row shows the action's result; the page shows errors. */
async function follow(client: QueryClient, userId: string, { environment, action }: Request): Promise<void> {
  for (let reload = 0; reload < reloads; reload += 1) {
    await new Promise((resolve) => setTimeout(resolve, reloadAfterMs));
    await client.invalidateQueries({ queryKey: keys.profile(userId) });
    void client.invalidateQueries({ queryKey: keys.environment(environment.id) });
    const { queryKey } = profileQuery(userId);
    const listed = environmentsOf(client.getQueryData(queryKey)?.user_data.containers ?? {});
    const now = listed.find(({ id }) => id === environment.id)?.status;
    if (now === undefined || hasSettled(action, environment.status, now)) return;
  }
}

function hasSettled(action: RowAction, before: Status, now: Status): boolean {
  const verb = verbOf(action);
  return verb === "cancel" || verb === "terminate" ? now !== before : isSettled(verb, before, now);
}

function verbOf(action: RowAction): Exclude<RowAction, "start_without_settings" | "start_fresh"> {
  return action === "start_without_settings" || action === "start_fresh" ? "start" : action;
}
