import { type IdleMinutes, setIdleStop, snoozeIdleStop } from "@berth/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call, messageOf } from "../../api/call.ts";
import { environmentQuery, keys } from "../../api/queries.ts";
import type { Detail } from "../lifecycle/environment.ts";

/** Changes the idle stop. Quick changes are sent one after the other, so that the last one wins. */
export function useIdleStop(id: string) {
  const { mutate, variables, isPending, isSuccess, error } = useMutation({
    ...useSettled(id),
    mutationFn: (minutes: IdleMinutes | null) => call(setIdleStop, { params: { id }, body: { minutes } }),
    scope: { id: `idle-stop ${id}` },
  });
  return {
    set: (minutes: IdleMinutes | null) => mutate(minutes),
    saving: isPending,
    saved: isSuccess,
    /** The choice that is being saved. */
    pending: isPending ? variables : undefined,
    failure: error ? messageOf(error) : undefined,
  };
}

export function useSnooze(id: string) {
  const { mutate, isPending, error } = useMutation({
    ...useSettled(id),
    mutationFn: () => call(snoozeIdleStop, { params: { id }, body: {} }),
  });
  return { snooze: () => mutate(), busy: isPending, failure: error ? messageOf(error) : undefined };
}

/** Shows the reply at once and refetches the rest of the page. */
function useSettled(id: string) {
  const client = useQueryClient();
  return {
    onSuccess: ({ idle_stop }: Pick<Detail, "idle_stop">) =>
      client.setQueryData(environmentQuery(id).queryKey, (before) => before && { ...before, idle_stop }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.environment(id) }),
  };
}
