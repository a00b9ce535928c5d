/** The slowest twenty of files with {file, seconds, tests}, as lines of a table. */
export function slowestFiles(files) {
  const slowest = [...files].sort((a, b) => b.seconds - a.seconds).slice(0, 20);
  const lines = slowest.map(
    ({ file, seconds, tests }) => `${seconds.toFixed(1).padStart(7)}  ${String(tests).padStart(5)}  ${file}`,
  );
  return ["seconds  tests  file", ...lines];
}

/** Files of suites as in Playwright's report; the seconds of one are those of its tests. */
export function browserFiles(suites) {
  return suites.map((suite) => {
    const tests = specsOf(suite).flatMap((spec) => spec.tests);
    const durations = tests.flatMap(({ results }) => results.map(({ duration }) => duration));
    const seconds = durations.reduce((sum, each) => sum + each, 0) / 1000;
    return { file: `e2e/${suite.file}`, seconds, tests: tests.length };
  });
}

export function specsOf(suite) {
  return [...suite.specs, ...(suite.suites ?? []).flatMap(specsOf)];
}
