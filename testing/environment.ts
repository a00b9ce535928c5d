const { PATH, HOME, RUNTIMES_DIR, RUNTIME, DOCKER_HOST, CHROMIUM, SHOTS, TRACE } = process.env;
const { PLAYWRIGHT_JSON_OUTPUT_NAME, VITEST_REPORT, DEPLOYED_URL, DEPLOYED_ENV_HOST, DEPLOYED_KEY } = process.env;
const { DEPLOYED_ADDRESS = "127.0.0.1", TEST_NODES } = process.env;

/**
 * The environment variables of proofs, benches and tests; no other file of theirs reads the process environment
 * (CONTRIBUTING 5).
 */
export const environment = {
  /** `shell` and `runtime` are passed on to a started product. */
  shell: { PATH, HOME },
  runtime: { RUNTIME, DOCKER_HOST },
  /** Folder of shared prepared Python runtimes. */
  runtimesDir: RUNTIMES_DIR,
  /** Path of another browser. */
  chromium: CHROMIUM,
  /** Folder for screenshots; none are taken without it. */
  shots: SHOTS,
  trace: TRACE !== undefined,
  /** A label (`name=value`) of the nodes of a cluster to use; without it any. */
  nodes: TEST_NODES,
  /**
   * An installation that runs already, where its names lead, and with TLS the hash of its certificate's public key.
   */
  deployed:
    DEPLOYED_URL && DEPLOYED_ENV_HOST
      ? { url: DEPLOYED_URL, envHost: DEPLOYED_ENV_HOST, address: DEPLOYED_ADDRESS, publicKeyHash: DEPLOYED_KEY }
      : undefined,
  /** Reports of `npm test`: whether Playwright writes one, and the path of Vitest's. */
  reported: PLAYWRIGHT_JSON_OUTPUT_NAME !== undefined,
  vitestReport: VITEST_REPORT,
} as const;
