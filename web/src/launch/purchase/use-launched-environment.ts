import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { environmentQuery, profileQuery } from "../../api/queries.ts";
import { environmentsOf } from "../../environments/lifecycle/environment.ts";

/** Polling interval; the event stream is usually faster. */
const pollEveryMs = 1_000;

/**
 * The environment of a running launch, found by name among the user's environments, because the create call replies only
 * once it is ready (G72). `unanswered`: the server is away at the moment. One request that is lost says nothing about it: on the
 * machine of a Docker Engine Chromium loses what it asks while a container's network appears (ERR_NETWORK_CHANGED).
 */
export function useLaunchedEnvironment(userId: string, subdomain: string, running: boolean) {
  const [id, setId] = useState<string>();
  const list = useQuery({
    ...profileQuery(userId),
    refetchInterval: running && id === undefined ? pollEveryMs : false,
  });
  const live = environmentsOf(list.data?.user_data.containers ?? {}).find(
    (one) => one.subdomain === subdomain && one.status !== "terminated",
  );
  // Kept after the end, so that a failed launch shows its last stage.
  if (running && live && live.id !== id) setId(live.id);
  const detail = useQuery({
    ...environmentQuery(id ?? ""),
    enabled: id !== undefined,
    refetchInterval: running ? pollEveryMs : false,
  });
  const { error, failureCount } = id === undefined ? list : detail;
  return { id, environment: detail.data, unanswered: running && (error !== null || failureCount > 1) };
}
