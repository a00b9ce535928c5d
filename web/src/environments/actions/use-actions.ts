import { type Action, actOnContainer, cancelLaunch, startEnvironment, terminate } from "@berth/contract";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import { keys, profileQuery } from "../../api/queries.ts";
import { toast } from "../../ui/toast/toast.ts";
import { type Environment, environmentsOf, isSettled } from "../lifecycle/environment.ts";
import { doneText, failedText } from "./action-texts.ts";

/** G30: the list is read again this long after an action. */
const reloadAfterMs = 1_500;
/** How often it is read again while the row is unchanged. */
const reloads = 10;

export type RowAction = Action | "cancel" | "terminate" | "start_without_settings";

export interface Actions {
  /** The running action by environment id; only those rows are busy. */
  readonly busy: ReadonlyMap<string, RowAction>;
  readonly run: (environment: Environment, action: RowAction) => void;
}

/** Actions of a row: one at a time, with a toast, busy until the row shows the result. */
export function useActions(userId: string): Actions {
  const client = useQueryClient();
  const [busy, setBusy] = useState<ReadonlyMap<string, RowAction>>(new Map());
  const asked = useRef(new Set<string>());
  const run = useCallback(
    (environment: Environment, action: RowAction) => {
      const { id } = environment;
      if (asked.current.has(id)) return;
      asked.current.add(id);
      setBusy((before) => new Map(before).set(id, action));
      void perform({ client, userId, environment, action, retry: () => run(environment, action) }).finally(() => {
        asked.current.delete(id);
        setBusy((before) => new Map([...before].filter(([other]) => other !== id)));
      });
    },
    [client, userId],
  );
  return { busy, run };
}

interface Performance {
  readonly client: QueryClient;
  readonly userId: string;
  readonly environment: Environment;
  readonly action: RowAction;
  readonly retry: () => void;
}

async function perform({ client, userId, environment, action, retry }: Performance): Promise<void> {
  try {
    await ask(userId, environment, action);
  } catch (error) {
    const message = error instanceof ApiError ? error.message : "";
    toast.error(failedText(action === "start_without_settings" ? "start" : action, message), {
      action: { label: "Retry", onClick: retry },
    });
    await client.invalidateQueries({ queryKey: keys.profile(userId) });
    return;
  }
  toast.success(successText(environment, action));
  for (let reload = 0; reload < reloads; reload += 1) {
    await new Promise((resolve) => setTimeout(resolve, reloadAfterMs));
    if (await hasSettled(client, userId, environment, action)) return;
  }
}

async function ask(userId: string, { id, subdomain }: Environment, action: RowAction): Promise<void> {
  if (action === "cancel") await call(cancelLaunch, { params: { id }, body: {} });
  else if (action === "terminate") await call(terminate, { params: { id }, body: { confirm: subdomain } });
  else if (action === "start_without_settings")
    await call(startEnvironment, { params: { id }, body: { without_settings: true } });
  else await call(actOnContainer, { params: { action, container_id: id, user_id: userId }, body: {} });
}

function successText({ name }: Environment, action: RowAction): string {
  if (action === "cancel") return `Launch of ${name} cancelled. The full amount goes back to your card.`;
  if (action === "terminate") return `Environment ${name} terminated`;
  return doneText(action === "start_without_settings" ? "start" : action, name);
}

/** Reads the list again; the page itself shows an error of that. */
async function hasSettled(
  client: QueryClient,
  userId: string,
  environment: Environment,
  action: RowAction,
): Promise<boolean> {
  await client.invalidateQueries({ queryKey: keys.profile(userId) });
  void client.invalidateQueries({ queryKey: keys.environment(environment.id) });
  const { queryKey } = profileQuery(userId);
  const listed = environmentsOf(client.getQueryData(queryKey)?.user_data.containers ?? {});
  const now = listed.find(({ id }) => id === environment.id)?.status;
  if (now === undefined) return true;
  if (action === "cancel" || action === "terminate") return now !== environment.status;
  return isSettled(action === "start_without_settings" ? "start" : action, environment.status, now);
}
