/** For Vitest's report and tests, which are typed. */
export function failureNote(what: string, thrown: readonly string[]): string;
export function browserFailures(report: object): string[];
