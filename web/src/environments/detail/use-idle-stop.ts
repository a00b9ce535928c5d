import { type IdleMinutes, setIdleStop, snoozeIdleStop } from "@berth/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, said } from "../../api/call.ts";
import { environmentQuery, keys } from "../../api/queries.ts";
import type { Detail } from "../lifecycle/environment.ts";

/** Changes after how long an idle environment stops. One after the other: of two quick changes the last one holds. */
export function useIdleStop(id: string) {
  // Of our own: what a mutation says of itself comes a moment after the click, and the choice would jump back until then.
  const [asked, setAsked] = useState<IdleMinutes | null>();
  const { mutate, isPending, isSuccess, error } = useMutation({
    ...useSettled(id),
    mutationFn: (minutes: IdleMinutes | null) => call(setIdleStop, { params: { id }, body: { minutes } }),
    scope: { id: `idle-stop ${id}` },
  });
  return {
    set: (minutes: IdleMinutes | null) => {
      setAsked(minutes);
      // Called for the last of several only.
      mutate(minutes, { onSettled: () => setAsked(undefined) });
    },
    saving: isPending,
    saved: isSuccess,
    asked,
    failure: error ? said(error) : undefined,
  };
}

export function useSnooze(id: string) {
  const { mutate, isPending, error } = useMutation({
    ...useSettled(id),
    mutationFn: () => call(snoozeIdleStop, { params: { id }, body: {} }),
  });
  return { snooze: () => mutate(), busy: isPending, failure: error ? said(error) : undefined };
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
