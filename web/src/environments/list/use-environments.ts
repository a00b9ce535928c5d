import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { profileQuery } from "../../api/queries.ts";
import { type Environment, environmentsOf, isChanging } from "../lifecycle/environment.ts";

/** Polling intervals; the event stream is usually faster. */
const pollMs = { changing: 5_000, calm: 30_000 } as const;

export interface Environments {
  /** Undefined until the first reply; an old list stays while a new one loads. */
  readonly environments: readonly Environment[] | undefined;
  readonly failed: boolean;
  readonly fetching: boolean;
  readonly refetch: () => void;
}

/** The user's environments. After an error polling stops until the user retries. */
export function useEnvironments(userId: string): Environments {
  const { data, isError, isFetching, refetch } = useQuery({
    ...profileQuery(userId),
    refetchInterval: ({ state }) => {
      if (state.status === "error") return false;
      const listed = environmentsOf(state.data?.user_data.containers ?? {});
      return listed.some(isChanging) ? pollMs.changing : pollMs.calm;
    },
  });
  const containers = data?.user_data.containers;
  const environments = useMemo(() => (containers ? environmentsOf(containers) : undefined), [containers]);
  return { environments, failed: isError, fetching: isFetching, refetch: () => void refetch() };
}
