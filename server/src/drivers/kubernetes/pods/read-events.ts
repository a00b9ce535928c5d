import type { CoreV1Event, CoreV1EventList } from "@kubernetes/client-node";
import { eventsPath } from "../cluster/objects.ts";
import type { Cluster } from "../cluster/open-cluster.ts";

/** Events of the object of this name, at most three seconds old, because a start is looked at often. */
export type ReadEvents = (name: string, signal: AbortSignal) => Promise<readonly CoreV1Event[]>;

const recentMs = 3_000;

export function eventReader(cluster: Cluster): ReadEvents {
  const known = new Map<string, { readonly at: number; readonly events: readonly CoreV1Event[] }>();
  return async (name, signal) => {
    const now = performance.now();
    for (const [each, { at }] of known) if (now - at > recentMs) known.delete(each);
    const recent = known.get(name);
    if (recent) return recent.events;
    const query = { fieldSelector: `involvedObject.name=${name}` };
    const { items } = await cluster.call<CoreV1EventList>({ path: eventsPath(cluster), query, signal });
    known.set(name, { at: now, events: items });
    return items;
  };
}
