/** For tests, which are typed. */
export interface TimedFile {
  readonly file: string;
  readonly seconds: number;
  readonly tests: number;
}

interface Suite {
  readonly file: string;
  readonly specs: readonly {
    readonly tests: readonly { readonly results: readonly { readonly duration: number }[] }[];
  }[];
  readonly suites?: readonly Suite[];
}

export function slowestFiles(files: readonly TimedFile[]): string[];
export function browserFiles(suites: readonly Suite[]): TimedFile[];
