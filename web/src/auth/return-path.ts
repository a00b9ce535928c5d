/** The path to open after signing in. Rejects `//host` and `/\host`, which would leave the app. */
export function returnPath(from: string | null): string {
  return from !== null && /^\/(?![/\\])/.test(from) ? from : "/dashboard";
}
