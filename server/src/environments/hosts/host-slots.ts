/** Slots for work on all hosts together; where there are several hosts, none gets more than half of the slots. */
export interface HostSlots {
  /** The hosts with free slots and how many rows to lease for them; limit 0 when no slot is free. */
  next(): { readonly hostIds: readonly string[]; readonly limit: number };
  take(hostId: string, work: Promise<unknown>): void;
  /** Resolves when all work has ended. */
  ended(): Promise<void>;
}

/** `freed` is told whether no work is left. An unreachable host occupies each of its slots for as long as a verb may take; the others do not wait for that. */
export function openHostSlots(
  hostIds: readonly string[],
  width: number,
  { failed, freed }: { readonly failed: (error: unknown) => void; readonly freed: (isIdle: boolean) => void },
): HostSlots {
  const most = hostIds.length > 1 ? width / 2 : width;
  const working = new Map<Promise<void>, string>();
  return {
    next() {
      const counts = Map.groupBy(working.values(), (hostId) => hostId);
      const freeSlots = (hostId: string) => most - (counts.get(hostId)?.length ?? 0);
      const open = hostIds.filter((hostId) => freeSlots(hostId) > 0);
      const limit = Math.min(width - working.size, ...open.map(freeSlots));
      return open.length > 0 && limit > 0 ? { hostIds: open, limit } : { hostIds: [], limit: 0 };
    },
    take(hostId, work) {
      const slot = work
        .then(() => {})
        .catch(failed)
        .finally(() => {
          working.delete(slot);
          freed(working.size === 0);
        });
      working.set(slot, hostId);
    },
    async ended() {
      await Promise.all(working.keys());
    },
  };
}
