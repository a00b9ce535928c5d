import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../api/call.ts";
import { environmentQuery, keys } from "../../api/queries.ts";
import type { Detail } from "../lifecycle/environment.ts";

/**
 * One setting of an environment, on its page. Quick changes are sent one after the other, so that the last one wins. `save`
 * returns what it changed.
 */
export function useSetting<Value>(id: string, name: string, save: (value: Value) => Promise<Partial<Detail>>) {
  const { mutate, variables, isPending, isSuccess, error } = useMutation({
    ...useSettled(id),
    mutationFn: save,
    scope: { id: `${name} ${id}` },
  });
  return {
    set: (value: Value) => mutate(value),
    saving: isPending,
    saved: isSuccess,
    /** The choice that is being saved. */
    pending: isPending ? variables : undefined,
    failure: error ? messageOf(error) : undefined,
  };
}

/** Shows the reply at once and refetches the rest of the page. */
export function useSettled(id: string) {
  const client = useQueryClient();
  return {
    onSuccess: (changed: Partial<Detail>) =>
      client.setQueryData(environmentQuery(id).queryKey, (before) => before && { ...before, ...changed }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.environment(id) }),
  };
}
