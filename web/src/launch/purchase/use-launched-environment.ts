import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { environmentQuery, profileQuery } from "../../api/queries.ts";
import { environmentsOf } from "../../environments/lifecycle/environment.ts";

/** The event stream is usually quicker. */
const pollEveryMs = 1_000;

/**
 * The environment of a running launch. The create call replies only when it is ready (G72), so it is found by its name
 * among the user's environments, which have it from the payment on.
 */
export function useLaunchedEnvironment(userId: string, subdomain: string, running: boolean) {
  const [id, setId] = useState<string>();
  const { data: profile } = useQuery({
    ...profileQuery(userId),
    refetchInterval: running && id === undefined ? pollEveryMs : false,
  });
  const live = environmentsOf(profile?.user_data.containers ?? {}).find(
    (one) => one.subdomain === subdomain && one.status !== "terminated",
  );
  // Kept when it ends: a failed launch still shows its last stage.
  if (running && live && live.id !== id) setId(live.id);
  const { data: environment } = useQuery({
    ...environmentQuery(id ?? ""),
    enabled: id !== undefined,
    refetchInterval: running ? pollEveryMs : false,
  });
  return { id, environment };
}
