import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { environmentQuery, profileQuery } from "../../api/queries.ts";
import { environmentsOf } from "../../environments/lifecycle/environment.ts";

/** The live stream is usually quicker; this is for when there is none. */
const pollEveryMs = 1_000;

/**
 * The environment that a launch is making. The create call holds its answer until it is ready (G72), so it is found by
 * its name among the user's own, where it stands from the moment of the payment.
 */
export function useLaunchedEnvironment(userId: string, subdomain: string, looking: boolean) {
  const [id, setId] = useState<string>();
  const { data: profile } = useQuery({
    ...profileQuery(userId),
    refetchInterval: looking && id === undefined ? pollEveryMs : false,
  });
  const live = environmentsOf(profile?.user_data.containers ?? {}).find(
    (one) => one.subdomain === subdomain && one.status !== "terminated",
  );
  // Kept when it ends: a failed launch still shows how far it came.
  if (looking && live && live.id !== id) setId(live.id);
  const { data: environment } = useQuery({
    ...environmentQuery(id ?? ""),
    enabled: id !== undefined,
    refetchInterval: looking ? pollEveryMs : false,
  });
  return { id, environment };
}
