/** Fewer launches say nothing of half or of 95 in 100 of them (G310). */
const enough = 20;

/** The figures if they mean something; undefined from fewer than 20 launches. */
export function meaningful<T extends { readonly count: number }>(figures: T | null | undefined): T | undefined {
  return figures && figures.count >= enough ? figures : undefined;
}
