/** What a fault means, the text that occurs exactly once, what stands there instead, and the name of who should see it. */
type Row = readonly [means: string, text: string, instead: string, seenBy?: string];

/**
 * Wrong lines that could have been written (G103): dropped guards, swapped states, skipped look-ups, wrong signs, missing
 * constraints. None changes nothing: each must be seen by a test. `npm run prove -- faults` plants them one by one.
 */
export interface FaultsOf {
  /** Below server/src, as the tests' names are. */
  readonly file: string;
  /** The nearest tests. */
  readonly tests: readonly string[];
  readonly rows: readonly Row[];
}
