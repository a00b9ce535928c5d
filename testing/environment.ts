const { PATH, HOME, RUNTIMES_DIR, RUNTIME, DOCKER_HOST, CHROMIUM, SHOTS, TRACE } = process.env;
const { PLAYWRIGHT_JSON_OUTPUT_NAME, VITEST_REPORT } = process.env;

/**
 * What proofs, benches and tests take from the shell that they are started in. Nothing else of theirs reads it
 * (CONTRIBUTING 5).
 */
export const environment = {
  /** Passed on to a product that they start, as are the two that choose what it runs environments on. */
  shell: { PATH, HOME },
  runtime: { RUNTIME, DOCKER_HOST },
  /** Prepared Python runtimes that others share. */
  runtimesDir: RUNTIMES_DIR,
  /** A browser instead of the one that is found. */
  chromium: CHROMIUM,
  /** A folder: the screens are also kept as pictures there, to be looked at. */
  shots: SHOTS,
  trace: TRACE !== undefined,
  /** `npm test` counts from reports: whether Playwright writes one, and the file of Vitest's. */
  reported: PLAYWRIGHT_JSON_OUTPUT_NAME !== undefined,
  vitestReport: VITEST_REPORT,
} as const;
