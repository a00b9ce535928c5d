export interface Random {
  /** From 0 up to 1. */
  (): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  of<T>(choices: readonly T[]): T;
}

/** The same seed gives the same numbers (mulberry32), so that a run can be repeated as far as the world allows. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return Object.assign(next, {
    chance: (probability: number) => next() < probability,
    of: <T>(choices: readonly T[]): T => choices[Math.floor(next() * choices.length)] as T,
  });
}
