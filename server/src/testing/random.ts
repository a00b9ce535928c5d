export interface Random {
  /** In [0, 1). */
  (): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  of<T>(choices: readonly T[]): T;
  /** A whole number in [0, limit). */
  below(limit: number): number;
}

/** mulberry32: the same seed gives the same numbers, so a run can be repeated except for its timing. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return Object.assign(next, {
    below,
    chance: (probability: number) => next() < probability,
    of: <T>(choices: readonly T[]): T => choices[below(choices.length)] as T,
  });
}
