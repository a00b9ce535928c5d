/** So many pieces of work at once for all hosts; where there are several, none has more than half of them. */
export interface HostSlots {
  /** Whom to claim for next, and how much at most; nothing when no place is free. */
  next(): { readonly hostIds: readonly string[]; readonly limit: number };
  take(hostId: string, work: Promise<unknown>): void;
  /** When all of it has ended. */
  ended(): Promise<void>;
}

/** A host out of reach holds each of its places for as long as a verb may take: the others are not to wait for that. */
export function openHostSlots(
  hostIds: readonly string[],
  width: number,
  { failed, freed }: { readonly failed: (error: unknown) => void; readonly freed: () => void },
): HostSlots {
  const most = hostIds.length > 1 ? width / 2 : width;
  const working = new Map<Promise<void>, string>();
  return {
    next() {
      const counts = Map.groupBy(working.values(), (hostId) => hostId);
      const roomOf = (hostId: string) => most - (counts.get(hostId)?.length ?? 0);
      const open = hostIds.filter((hostId) => roomOf(hostId) > 0);
      const limit = Math.min(width - working.size, ...open.map(roomOf));
      return open.length > 0 && limit > 0 ? { hostIds: open, limit } : { hostIds: [], limit: 0 };
    },
    take(hostId, work) {
      const place = work
        .then(() => {})
        .catch(failed)
        .finally(() => {
          working.delete(place);
          freed();
        });
      working.set(place, hostId);
    },
    async ended() {
      await Promise.all(working.keys());
    },
  };
}
