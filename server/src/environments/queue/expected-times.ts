export interface Slot {
  /** Any text that no other machine has. */
  readonly machine: string;
  /** When it is expected to be free. */
  readonly freeAt: Date;
}

/**
 * When each entry of a queue gets its GPUs, if every reservation is used and nobody ends early: each gets those of the machine
 * that has enough soonest, and keeps them for longer than is known. Undefined from where nothing is known. `slots` are
 * ordered by time.
 */
export function expectedTimes(slots: readonly Slot[], counts: readonly number[]): readonly (Date | undefined)[] {
  const left = Map.groupBy(slots, ({ machine }) => machine);
  return counts.map((count) => {
    const able = [...left].filter(([, own]) => own.length >= count);
    const timeOn = ([, own]: (typeof able)[number]) => own[count - 1]?.freeAt.getTime() ?? Number.POSITIVE_INFINITY;
    const soonest = able.toSorted((a, b) => timeOn(a) - timeOn(b))[0];
    if (!soonest) return undefined;
    left.set(soonest[0], soonest[1].slice(count));
    return new Date(timeOn(soonest));
  });
}
