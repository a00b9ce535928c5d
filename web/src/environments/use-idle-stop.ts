import { type IdleMinutes, setIdleStop, snoozeIdleStop } from "@berth/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError, call } from "../api/client.ts";
import { environmentQuery, keys } from "../api/queries.ts";
import type { Detail } from "./environment.ts";

/** Changes after how long an idle environment stops. One after the other: of two quick changes the last one holds. */
export function useIdleStop(id: string) {
  const { mutate, isPending, isSuccess, error, variables } = useMutation({
    ...useSettled(id),
    mutationFn: (minutes: IdleMinutes | null) => call(setIdleStop, { params: { id }, body: { minutes } }),
    scope: { id: `idle-stop ${id}` },
  });
  return {
    set: mutate,
    saving: isPending,
    saved: isSuccess,
    asked: isPending ? variables : undefined,
    failure: said(error),
  };
}

export function useSnooze(id: string) {
  const { mutate, isPending, error } = useMutation({
    ...useSettled(id),
    mutationFn: () => call(snoozeIdleStop, { params: { id }, body: {} }),
  });
  return { snooze: () => mutate(), busy: isPending, failure: said(error) };
}

/** What the server answered is shown at once; the rest of the page follows. */
function useSettled(id: string) {
  const client = useQueryClient();
  return {
    onSuccess: ({ idle_stop }: Pick<Detail, "idle_stop">) =>
      client.setQueryData(environmentQuery(id).queryKey, (before) => before && { ...before, idle_stop }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.environment(id) }),
  };
}

function said(error: Error | null): string | undefined {
  if (error === null) return undefined;
  return error instanceof ApiError && error.status > 0 ? error.message : "No answer from the server.";
}
