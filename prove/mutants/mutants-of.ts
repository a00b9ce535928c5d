/** The fault in words, the text that occurs exactly once, its replacement, and part of the title of the test that should fail. */
type Row = readonly [means: string, text: string, instead: string, seenBy?: string];

/**
 * Plausible mistakes (G103): dropped guards, swapped states, skipped look-ups, wrong signs, missing constraints. A test
 * must catch each. `npm run prove -- faults` applies them one by one.
 */
export interface FaultsOf {
  /** Below server/src, like `tests`. */
  readonly file: string;
  /** The nearest tests. */
  readonly tests: readonly string[];
  readonly rows: readonly Row[];
}
